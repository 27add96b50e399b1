/** Fields of an HTTP/2 request that DNS over HTTPS needs (RFC 9113 section 8.3). */
import type { Field } from './hpack.ts';

/** The fields that are used. */
export interface RequestFields {
  readonly method: string;
  readonly path: string;
  /** '' = none, also for the next two fields. */
  readonly contentType: string;
  readonly forwardedFor: string;
  readonly userAgent: string;
  /** -1 = no content-length field. */
  readonly contentLength: number;
}

/** RFC 9113 section 8.2.2: connection-specific fields, which are valid in HTTP/1.1 only. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
]);
const PSEUDO: ReadonlySet<string> = new Set([':method', ':scheme', ':path', ':authority']);

/** Reads the fields of a request; null if it is malformed (RFC 9113 section 8.1.1). */
export function readRequestFields(fields: readonly Field[]): RequestFields | null {
  const pseudo = new Map<string, string>();
  let contentType = '';
  let forwardedFor = '';
  let userAgent = '';
  let contentLength = -1;
  let isPseudoOver = false;
  for (const [name, value] of fields) {
    if (name.startsWith(':')) {
      if (isPseudoOver || !PSEUDO.has(name) || pseudo.has(name)) return null;
      pseudo.set(name, value);
      continue;
    }
    isPseudoOver = true;
    if (OF_CONNECTIONS.has(name) || name === '' || /[A-Z]/.test(name)) return null;
    if (name === 'content-type') contentType = value;
    else if (name === 'user-agent') userAgent = value;
    else if (name === 'x-forwarded-for')
      forwardedFor = forwardedFor === '' ? value : `${forwardedFor},${value}`;
    else if (name === 'content-length') {
      if (contentLength !== -1 || !/^\d{1,9}$/.test(value)) return null;
      contentLength = Number(value);
    }
  }
  const method = pseudo.get(':method');
  const path = pseudo.get(':path');
  if (method === undefined || path === undefined || !pseudo.has(':scheme')) return null;
  return { method, path, contentType, forwardedFor, userAgent, contentLength };
}

/**
 * Whether a client loses answers that share a TLS record. dnsperf (all versions, at least up to 2.14) takes one answer
 * from each SSL_read, and its callback then pauses nghttp2, which discards the data of the next answer.
 */
export function losesJoinedAnswers({ userAgent }: RequestFields): boolean {
  return userAgent.startsWith('dnsperf/');
}
