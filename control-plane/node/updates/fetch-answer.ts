/**
 * Requests the newest version from a server over HTTPS. Redirects are not followed, and the time and size of the
 * response are limited.
 */
import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { reasonOf } from '../../../shared/errors.ts';
import { requestList } from '../../lists/fetch/fetch-http.ts';
import { FETCH_LIMITS } from '../../lists/fetch/fetch-limits.ts';
import { type FetchBounds, lookupBySystem } from '../../lists/fetch/list-host.ts';

/** A request for the newest version. */
export interface AnswerRequest {
  readonly url: string;
  readonly bounds: FetchBounds;
  readonly signal: AbortSignal;
  /** Milliseconds for the whole request; by default ten seconds. */
  readonly totalMs?: number;
}

/** Maximum size of a response in bytes, both as received and decompressed. */
const MAX_BYTES = 16_384;
const TOTAL_MS = 10_000;
const NO_VALIDATORS = { etag: null, lastModified: null };

/** The text of the response. @throws {Error} with the reason if the request fails */
export async function fetchAnswer({
  url,
  bounds,
  signal,
  totalMs = TOTAL_MS,
}: AnswerRequest): Promise<string> {
  const late = AbortSignal.timeout(totalMs);
  const limits = { ...FETCH_LIMITS, redirects: 0, totalMs, connectMs: totalMs, idleMs: totalMs };
  const ways = { limits, bounds, lookup: lookupBySystem, signal: AbortSignal.any([signal, late]) };
  try {
    const response = await requestList(new URL(url), NO_VALIDATORS, ways);
    try {
      return textOf(await readBounded(response), response.headers['content-encoding'] ?? 'identity');
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (late.aborted) throw new Error(`no answer within ${totalMs} ms`, { cause: error });
    throw error;
  }
}

async function readBounded(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error(`the response has more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function textOf(body: Buffer, encoding: string): string {
  if (encoding === 'identity') return body.toString();
  if (encoding !== 'gzip') throw new Error('the response has an encoding that was not requested');
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BYTES }).toString();
  } catch (error) {
    throw new Error(`the response could not be decompressed: ${reasonOf(error)}`, { cause: error });
  }
}
