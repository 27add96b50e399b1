/**
 * DNS over HTTPS as both of its servers speak it (RFC 8484 sections 4.1 and 5.1): what a request asks by its method, path,
 * query string and media type, and the fields of the response. Pure; every octet is hostile.
 */
import { canonicalClientKey } from './client-key.ts';
import { smallestTtl } from './smallest-ttl.ts';

/** RFC 8484 section 6. */
export const DNS_MESSAGE_TYPE = 'application/dns-message';
/** The path that clients are told. */
export const DOH_PATH = '/dns-query';
/** Octets of a request's message; no query needs more, padded ones included (RFC 8467 section 4.1: blocks of 128). */
export const MAX_DOH_QUERY_SIZE = 4096;

/** A request as it will be answered. */
export type DohTarget =
  | { readonly kind: 'message'; readonly message: Uint8Array; readonly clientKey: string }
  /** The message is the body. */
  | { readonly kind: 'body'; readonly clientKey: string }
  | { readonly kind: 'refused'; readonly status: 400 | 404 | 405 | 413 | 414 | 415 };

/** Fields of the response with a reply. Replies differ from client to client, so that no shared cache may keep them. */
export function dohFields(reply: Uint8Array): Record<string, string | number> {
  return {
    'content-type': DNS_MESSAGE_TYPE,
    'content-length': reply.length,
    'cache-control': `private, max-age=${smallestTtl(reply)}`,
  };
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;
const MAX_ENCODED = Math.ceil((MAX_DOH_QUERY_SIZE * 4) / 3);

/** Reads a request line and the media type of its body; '' = none. */
export function readDohTarget(method: string, target: string, mediaType: string): DohTarget {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const clientKey = clientKeyOf(path);
  if (clientKey === null) return refused(404);
  if (method === 'GET') return readGet(queryAt === -1 ? '' : target.slice(queryAt + 1), clientKey);
  if (method !== 'POST') return refused(405);
  // Parameters, such as a charset, mean nothing for this type.
  const [type = ''] = mediaType.split(';', 1);
  return type.trim().toLowerCase() === DNS_MESSAGE_TYPE ? { kind: 'body', clientKey } : refused(415);
}

/** '' for the path itself, the key behind it, null for every other path. */
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
