/** One answered query as it is handed to the log writer. What of it is stored is decided by `privacy.ts`. */
import type { DnssecStatusCode, ProtocolCode, QueryStatusCode } from '../../shared/query-log.ts';

/**
 * One row. The writer copies what it needs before `append()` returns, so a caller may fill one object and
 * its views of a ring again and again.
 */
export interface QueryLogRow {
  /** Time of arrival, Unix milliseconds; a fraction is kept to the microsecond. */
  timestampMs: number;
  /** 4 or 16 bytes; an IPv4 address may come as ::ffff:a.b.c.d. */
  client: Uint8Array;
  groupId: number;
  /** The name asked for, wire form, uncompressed and valid; folded on its way into the log. */
  qname: Uint8Array;
  /** 0..65535 */
  qtype: number;
  protocol: ProtocolCode;
  status: QueryStatusCode;
  /** 0..4095, as sent. */
  rcode: number;
  dnssec: DnssecStatusCode;
  responseTimeUs: number;
  cached: boolean;
  /** Name of the list or filter that decided; null = nothing was blocked. */
  blockSource: string | null;
  /** The rule that decided, as a person would write it. */
  blockRule: string | null;
  /** The upstream's configured text, e.g. `udp://192.0.2.1:53`; null = none was asked. */
  upstream: string | null;
  /**
   * Answer records in wire form as sent; compression pointers count from a message whose question is
   * `qname`. null = none.
   */
  answers: Uint8Array | null;
}
