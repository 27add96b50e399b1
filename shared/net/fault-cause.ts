/**
 * Why a server could not be queried, in words. Errors have codes of the system, of Node.js or of OpenSSL; texts for
 * users end with the code in parentheses, from which the dashboard determines its text in other languages.
 */

/** Kinds of causes; each has a text here and in the message catalogues of the dashboard. */
const WORDS = {
  unknown_host: 'the host name does not exist',
  no_address: 'the host name has no address',
  lookup_failed: 'the host name could not be resolved',
  refused: 'the server refused the connection',
  closed: 'the server closed the connection',
  silent: 'the server did not answer',
  host_unreachable: 'the server cannot be reached',
  network_unreachable: 'this machine has no route to the network of the server',
  network_down: 'the network of this machine is down',
  not_permitted: 'this machine does not permit the connection',
  no_own_address: 'this machine has no address to connect from',
  certificate_expired: "the server's certificate has expired",
  certificate_early: "the server's certificate is not valid yet",
  certificate_revoked: "the server's certificate was revoked",
  certificate_self_signed: "the server's certificate is self-signed",
  certificate_issuer: "the issuer of the server's certificate is unknown",
  certificate_name: "the server's certificate is for another name",
  certificate_wrong: "the server's certificate is not valid",
  no_tls: 'the server and Weir have no TLS version or cipher in common',
} as const;
export type FaultCause = keyof typeof WORDS;

const CODES: Readonly<Record<string, FaultCause>> = {
  ENOTFOUND: 'unknown_host',
  ENODATA: 'no_address',
  EAI_AGAIN: 'lookup_failed',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  ETIMEDOUT: 'silent',
  EHOSTUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ENETUNREACH: 'network_unreachable',
  ENETDOWN: 'network_down',
  EPERM: 'not_permitted',
  EACCES: 'not_permitted',
  EADDRNOTAVAIL: 'no_own_address',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_early',
  CERT_REVOKED: 'certificate_revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_issuer',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name',
  CERT_SIGNATURE_FAILURE: 'certificate_wrong',
  INVALID_PURPOSE: 'certificate_wrong',
  EPROTO: 'no_tls',
};

/** The text for a code, followed by the code; null for codes that are not about a connection. */
export function describeCode(code: string): string | null {
  const cause = causeOf(code);
  return cause === null ? null : `${WORDS[cause]} (${code})`;
}

/** Texts without a code that can be the last error of an upstream. */
const TEXTS: readonly (readonly [RegExp, FaultCause])[] = [
  [/^timeout$/, 'silent'],
  [/^closed$/, 'closed'],
  [/^no address for /, 'no_address'],
];

/**
 * The cause of an upstream's last error, from the code at the end of its text or from the whole text; null = unknown.
 */
export function causeIn(text: string): FaultCause | null {
  const [, known] = TEXTS.find(([pattern]) => pattern.test(text)) ?? [];
  if (known !== undefined) return known;
  const code = /(?:^|\()([A-Z][A-Z0-9_]+)\)?$/.exec(text)?.[1];
  return code === undefined ? null : causeOf(code);
}

function causeOf(code: string): FaultCause | null {
  return Object.hasOwn(CODES, code) ? (CODES[code] ?? null) : null;
}
