/**
 * DNS over HTTPS for both servers that offer it (RFC 8484 sections 4.1 and 5.1): reads the DNS query of a request from
 * its method, path, query string and media type, and writes the fields of the response, including its cache lifetime.
 * Pure functions; every byte may come from an attacker.
 */
import { canonicalClientKey } from './client-key.ts';
import { RRType } from './iana.ts';
import { Header, QUESTION_TAIL_SIZE, readU16, readU32, Record, skipName } from './wire.ts';

/** Media type of DNS messages (RFC 8484 section 6). */
export const DNS_MESSAGE_TYPE = 'application/dns-message';
/** The path that Weir announces to clients. */
export const DOH_PATH = '/dns-query';
/**
 * Maximum size of a request's message in bytes; no query needs more, even with padding (RFC 8467 section 4.1: blocks of
 * 128).
 */
export const MAX_DOH_QUERY_SIZE = 4096;

/** The parsed request. */
export type DohTarget =
  | { readonly kind: 'message'; readonly message: Uint8Array; readonly clientKey: string }
  /** The message is in the body. */
  | { readonly kind: 'body'; readonly clientKey: string }
  | { readonly kind: 'refused'; readonly status: 400 | 404 | 405 | 413 | 414 | 415 };

/** Fields of the response with a reply. Replies differ from client to client, so shared caches must not store them. */
export function dohFields(reply: Uint8Array): Record<string, string | number> {
  return {
    'content-type': DNS_MESSAGE_TYPE,
    'content-length': reply.length,
    'cache-control': `private, max-age=${smallestTtl(reply)}`,
  };
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;
const MAX_ENCODED = Math.ceil((MAX_DOH_QUERY_SIZE * 4) / 3);

/** Reads a request line and the media type of the body; '' = none. */
export function readDohTarget(method: string, target: string, mediaType: string): DohTarget {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const clientKey = clientKeyOf(path);
  if (clientKey === null) return refused(404);
  if (method === 'GET') return readGet(queryAt === -1 ? '' : target.slice(queryAt + 1), clientKey);
  if (method !== 'POST') return refused(405);
  // Ignore parameters of the media type, such as a charset, which have no meaning here.
  const [type = ''] = mediaType.split(';', 1);
  return type.trim().toLowerCase() === DNS_MESSAGE_TYPE ? { kind: 'body', clientKey } : refused(415);
}

/** The key after `DOH_PATH`; '' for `DOH_PATH` alone; null for other paths. */
function clientKeyOf(path: string): string | null {
  if (!path.startsWith(DOH_PATH)) return null;
  const rest = path.slice(DOH_PATH.length);
  if (rest === '' || rest === '/') return '';
  return rest.startsWith('/') ? canonicalClientKey(rest.slice(1)) : null;
}

function readGet(query: string, clientKey: string): DohTarget {
  const values = query.split('&').filter((pair) => pair.startsWith('dns='));
  if (values.length !== 1) return refused(400);
  const encoded = values[0]!.slice('dns='.length);
  if (encoded.length > MAX_ENCODED) return refused(414);
  if (!BASE64URL.test(encoded) || encoded.length % 4 === 1) return refused(400);
  return { kind: 'message', message: Buffer.from(encoded, 'base64url'), clientKey };
}

function refused(status: (DohTarget & { kind: 'refused' })['status']): DohTarget {
  return { kind: 'refused', status };
}

/** MINIMUM is the last field of an SOA record (RFC 1035 section 3.3.13). */
const SOA_MINIMUM_SIZE = 4;

/**
 * Smallest TTL in seconds: that of the answer section; if this section is empty, the negative TTL of the SOA record in
 * the authority section (RFC 2308 section 5); 0 without an SOA record. The reply must be well-formed: Weir has written
 * it.
 */
export function smallestTtl(reply: Uint8Array): number {
  let at: number = Header.SIZE;
  if (readU16(reply, Header.QDCOUNT) === 1) at = skipName(reply, at, reply.length) + QUESTION_TAIL_SIZE;
  const answers = readU16(reply, Header.ANCOUNT);
  const records = answers === 0 ? readU16(reply, Header.NSCOUNT) : answers;
  let smallest = Infinity;
  for (let i = 0; i < records; i++) {
    const tail = skipName(reply, at, reply.length);
    const end = tail + Record.RDATA + readU16(reply, tail + Record.RDLENGTH);
    const ttl = readU32(reply, tail + Record.TTL);
    if (answers > 0) smallest = Math.min(smallest, ttl);
    else if (readU16(reply, tail) === RRType.SOA)
      smallest = Math.min(smallest, ttl, readU32(reply, end - SOA_MINIMUM_SIZE));
    at = end;
  }
  return smallest === Infinity ? 0 : smallest;
}
