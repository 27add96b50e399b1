/**
 * EDNS options of a request that have a meaning on connections only: keepalive (RFC 7828) and padding (RFC 7830).
 * `respond/reply.ts` writes the options of the reply.
 */
import { findOption } from '../../shared/dns/edns-option.ts';
import { EdnsOption } from '../../shared/dns/iana.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { Query } from './query.ts';

/** Options of the reply, as bits. */
export const StreamOption = {
  /** RFC 7828 section 3.3.2: the reply states how long the client may keep the connection idle. */
  KEEPALIVE: 1,
  /** RFC 8467: the reply is padded, because the request was padded. */
  PADDING: 2,
} as const;

/** A connection is closed after this time without a complete message in either direction (RFC 7766 section 6.1). */
export const STREAM_IDLE_MS = 10_000;

/** Idle timeout that replies announce, in milliseconds. */
let announcedIdleMs = STREAM_IDLE_MS;

/** Idle timeout that a reply announces, milliseconds. */
export function streamIdleMs(): number {
  return announcedIdleMs;
}

/** From then on, replies request that clients close the connection (RFC 7828 section 3.4), because this thread ends. */
export function endStreamsSoon(): void {
  announcedIdleMs = 0;
}

/** Records the options for the reply to a parsed request on a connection. */
export function readStreamOptions(query: Query): void {
  const { bytes, optionsAt, optionsEnd, protocol } = query;
  // The format of options of other EDNS versions is unknown.
  if (!query.hasEdns || query.ednsVersion !== 0) return;
  if (protocol !== Protocol.doh && findOption(bytes, optionsAt, optionsEnd, EdnsOption.TCP_KEEPALIVE) >= 0)
    query.streamOptions |= StreamOption.KEEPALIVE;
  // Without encryption, padding would not hide anything.
  if (protocol !== Protocol.tcp && findOption(bytes, optionsAt, optionsEnd, EdnsOption.PADDING) >= 0)
    query.streamOptions |= StreamOption.PADDING;
}
