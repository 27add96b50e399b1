/**
 * Reads a certificate chain and its private key from PEM, and checks whether a web server should use them. The result
 * is encoded again from the parsed form. It accesses neither files (`certificate-files.ts`) nor a clock.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { addressFromText, addressToText } from '../../../shared/net/ip.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** Details of a certificate that are shown to users. */
export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** Names and addresses for which the certificate is valid. */
  readonly names: readonly string[];
  /** Type of the key, such as `RSA 2048` and `EC P-256`. */
  readonly keyType: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Whether the certificate is signed with its own key. */
  readonly isSelfSigned: boolean;
}

/** A chain and the key of its first certificate, which belong together. */
export interface CertificatePair {
  /** PEM: the server's own certificate, then the chain of its issuers. */
  readonly cert: string;
  /** PEM, PKCS #8. Must not appear in any log, response or audit entry. */
  readonly key: string;
  readonly facts: CertificateFacts;
}

/** Reason why a certificate or a key is refused; the message contains nothing of the key. */
export class CertificateFault extends Error {
  override readonly name = 'CertificateFault';
  /** Which of the two is at fault. */
  readonly field: 'cert' | 'key';

  constructor(field: 'cert' | 'key', message: string) {
    super(message);
    this.field = field;
  }
}

/** Maximum number of certificates in a chain; public chains have three or four. */
const MAX_CHAIN = 10;
const MIN_RSA_BITS = 2048;
/** A larger key would cost more than 10 ms of the event loop for each handshake. */
const MAX_RSA_BITS = 4096;
/** Curves that browsers support: OpenSSL's name, and the name by NIST. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const KEY = /-----BEGIN (?:(?:RSA|EC) )?PRIVATE KEY-----[^-]+-----END (?:(?:RSA|EC) )?PRIVATE KEY-----/g;
/** Extended key usages that allow a server (RFC 5280 section 4.2.1.12): server authentication, any usage. */
const FOR_SERVERS: readonly string[] = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** The pair in these texts, regardless of its dates. Throws CertificateFault if the pair cannot be used, or is weak. */
export function readPair(certText: string, keyText: string): CertificatePair {
  const chain = readChain(certText);
  const [leaf] = chain;
  const key = readKey(keyText);
  chain.forEach((one, index) => refuseWeak(one, index));
  refuseBrokenChain(chain);
  if (!leaf.checkPrivateKey(key))
    throw new CertificateFault('key', 'this key does not belong to the certificate');
  // Undefined if the certificate does not restrict its use, although the type does not allow undefined.
  const usages = leaf.keyUsage as string[] | undefined;
  if (usages !== undefined && !usages.some((usage) => FOR_SERVERS.includes(usage)))
    throw new CertificateFault('cert', 'the certificate is not for servers (extended key usage)');
  const pair = {
    cert: chain.map((one) => one.toString()).join(''),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    facts: factsOf(leaf),
  };
  refuseUnusable(pair);
  return pair;
}

/** Throws CertificateFault unless the certificate is valid at this time. */
export function refuseOutOfDate({ facts }: CertificatePair, nowMs: number): void {
  const { notBefore, notAfter } = facts;
  if (nowMs > notAfter.getTime())
    throw new CertificateFault('cert', `the certificate expired at ${notAfter.toISOString()}`);
  if (nowMs < notBefore.getTime())
    throw new CertificateFault('cert', `the certificate is not valid before ${notBefore.toISOString()}`);
}

function readChain(text: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length > MAX_CHAIN)
    throw new CertificateFault('cert', `expected at most ${MAX_CHAIN} certificates, got ${blocks.length}`);
  const [leaf, ...issuers] = blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new CertificateFault('cert', `${placeIn(index)} cannot be read`);
    }
  });
  if (leaf !== undefined) return [leaf, ...issuers];
  const isKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text);
  const found = isKey ? 'a private key; are the certificate and the key swapped?' : 'none';
  throw new CertificateFault('cert', `expected a certificate in PEM (BEGIN CERTIFICATE), got ${found}`);
}

function readKey(text: string): KeyObject {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type:.*ENCRYPTED/m.test(text))
    throw new CertificateFault('key', 'the key is encrypted; remove its passphrase first');
  const blocks = text.match(KEY) ?? [];
  if (blocks.length > 1) throw new CertificateFault('key', `expected one private key, got ${blocks.length}`);
  const [block] = blocks;
  if (block === undefined) {
    const isCertificate = text.includes('-----BEGIN CERTIFICATE-----');
    const found = isCertificate ? 'a certificate; are the certificate and the key swapped?' : 'none';
    throw new CertificateFault('key', `expected a private key in PEM (BEGIN PRIVATE KEY), got ${found}`);
  }
  try {
    return createPrivateKey({ key: block, format: 'pem' });
  } catch {
    throw new CertificateFault('key', 'the private key cannot be read');
  }
}

/** Refuses keys and signatures that clients refuse, or that others can forge. */
function refuseWeak(certificate: X509Certificate, index: number): void {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  const bits = details?.modulusLength ?? 0;
  const where = placeIn(index);
  if (type === 'rsa' || type === 'rsa-pss') {
    if (bits < MIN_RSA_BITS)
      throw new CertificateFault(
        'cert',
        `${where} has an RSA key of ${bits} bits; the minimum is ${MIN_RSA_BITS}`,
      );
    if (index === 0 && bits > MAX_RSA_BITS)
      throw new CertificateFault(
        'cert',
        `${where} has an RSA key of ${bits} bits; the maximum is ${MAX_RSA_BITS}`,
      );
  } else if (type === 'ec') {
    const curve = details?.namedCurve ?? 'unknown';
    if (!Object.hasOwn(CURVES, curve))
      throw new CertificateFault(
        'cert',
        `${where} has a key on the curve ${curve}; expected P-256, P-384 or P-521`,
      );
  } else if (type !== 'ed25519') {
    throw new CertificateFault(
      'cert',
      `${where} has a key of type ${type ?? 'unknown'}; expected RSA, EC or Ed25519`,
    );
  }
  // No client checks the signature of a root certificate.
  const isRoot = index > 0 && certificate.subject === certificate.issuer;
  const algorithm = certificate.signatureAlgorithm ?? 'unknown';
  if (!isRoot && /md[245]|sha-?1(?!\d)/i.test(algorithm))
    throw new CertificateFault(
      'cert',
      `${where} is signed with ${algorithm}, whose signatures can be forged`,
    );
}

/** Clients expect each certificate after the first to have signed the one before it (RFC 8446 section 4.4.2). */
function refuseBrokenChain(chain: readonly X509Certificate[]): void {
  for (const [index, issuer] of chain.slice(1).entries()) {
    const signed = chain[index]!;
    if (!signed.checkIssued(issuer) || !signed.verify(issuer.publicKey))
      throw new CertificateFault(
        'cert',
        `${placeIn(index + 1)} did not sign the previous one; the server's certificate must come first`,
      );
  }
}

/** OpenSSL makes the final decision. */
function refuseUnusable({ cert, key }: CertificatePair): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new CertificateFault('cert', `OpenSSL refuses the certificate: ${reasonOf(error)}`);
  }
}

function factsOf(leaf: X509Certificate): CertificateFacts {
  return {
    subject: oneLine(leaf.subject),
    issuer: oneLine(leaf.issuer),
    names: namesIn(leaf.subjectAltName ?? ''),
    keyType: keyTypeOf(leaf.publicKey),
    notBefore: new Date(leaf.validFrom),
    notAfter: new Date(leaf.validTo),
    // Does not use checkIssued(), which requires a key usage that only authorities have.
    isSelfSigned: leaf.subject === leaf.issuer && leaf.verify(leaf.publicKey),
  };
}

/** Reads `DNS:weir.home.arpa, IP Address:192.0.2.1`; a name that contains a comma is in quotes. */
function namesIn(alternatives: string): string[] {
  return [...alternatives.matchAll(/(DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, kind, name]) => {
    const address = kind === 'DNS' ? null : addressFromText(name!);
    return address === null ? name! : addressToText(address);
  });
}

function keyTypeOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  if (details?.modulusLength !== undefined) return `RSA ${details.modulusLength}`;
  const curve = details?.namedCurve;
  if (curve !== undefined) return `EC ${CURVES[curve] ?? curve}`;
  return type === 'ed25519' ? 'Ed25519' : (type ?? '');
}

/** `CN=weir.home.arpa, O=Weir`, from a text with one line for each part. A certificate may have no subject. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}

function placeIn(index: number): string {
  return index === 0 ? 'the certificate' : `certificate ${index + 1} of the chain`;
}
