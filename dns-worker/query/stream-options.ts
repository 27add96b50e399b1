/**
 * EDNS options of a request that mean something on connections only: keepalive (RFC 7828) and padding (RFC 7830). What
 * the reply then has is `respond/reply.ts`.
 */
import { findOption } from '../../shared/dns/edns-option.ts';
import { EdnsOption } from '../../shared/dns/iana.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { Query } from './query.ts';

/** Options that the reply has; one bit each. */
export const StreamOption = {
  /** RFC 7828 section 3.3.2: the reply states how long the client may idle. */
  KEEPALIVE: 1,
  /** RFC 8467: the reply is padded, as the request was. */
  PADDING: 2,
} as const;

/** A connection is closed after this long without a whole message in or out (RFC 7766 section 6.1). */
export const STREAM_IDLE_MS = 10_000;

/** Idle timeout that replies announce, milliseconds. */
let toldIdleMs = STREAM_IDLE_MS;

/** Idle timeout that a reply announces, milliseconds. */
export function streamIdleMs(): number {
  return toldIdleMs;
}

/** From now on, replies ask clients to close once they have their answers (RFC 7828 section 3.4): this thread ends. */
export function endStreamsSoon(): void {
  toldIdleMs = 0;
}

/** Notes in a parsed request over a connection which of the options its reply has. */
export function readStreamOptions(query: Query): void {
  const { bytes, optionsAt, optionsEnd, protocol } = query;
  // The format of options of other versions is unknown.
  if (!query.hasEdns || query.ednsVersion !== 0) return;
  if (protocol !== Protocol.doh && findOption(bytes, optionsAt, optionsEnd, EdnsOption.TCP_KEEPALIVE) >= 0)
    query.streamOptions |= StreamOption.KEEPALIVE;
  // Without encryption it would hide nothing.
  if (protocol !== Protocol.tcp && findOption(bytes, optionsAt, optionsEnd, EdnsOption.PADDING) >= 0)
    query.streamOptions |= StreamOption.PADDING;
}
