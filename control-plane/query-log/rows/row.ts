/** One answered query in the form that the log writer receives. `privacy.ts` decides which parts are stored. */
import {
  type DecisionOrigin,
  type DnssecStatusCode,
  Exclusion,
  type ExclusionBits,
  type ProtocolCode,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';

/** Replaces an unknown type of an answer's first record; reserved by IANA. */
export const UNKNOWN_ANSWER = 0xffff;

/** A range of a row's memory. */
export interface ByteRange {
  at: number;
  /** 0 = absent. */
  length: number;
}

/** A rule as a log record identifies it, without its name. */
export interface DecidingRuleNumbers {
  /** A `RuleOrigin`. */
  readonly origin: number;
  /** Attribute id, or index of a special rule; both start at 0. */
  readonly index: number;
  /** `RuleKind` or `ManualKind` bits that applied. */
  readonly kinds: number;
  readonly groupId: number;
}

/** The deciding rule: its whole text, or the text before and after the name that it matched. */
export interface LoggedRule {
  /** Name of the list, filter, service or schedule profile. */
  readonly source: string;
  /** Text before the name; the whole text if `atName` is false. */
  readonly before: string;
  readonly atName: boolean;
  /**
   * Text after the name; if `atName` is false, the alias that the rule matched, or '' if it matched the queried name.
   */
  readonly after: string;
  /**
   * Ids of all lists that contain the rule, ascending; empty if the rule is not from a list, or if the ids are unknown.
   */
  readonly lists: readonly number[];
}

/**
 * One row: numbers, and ranges of the record's memory. The writer copies the data before `append()` returns, so callers
 * reuse one object; creating views of the memory for each row would cost more than all other work.
 */
export interface QueryLogRow {
  bytes: Uint8Array;
  /** Time of arrival in Unix milliseconds; fractions are stored with microsecond precision. */
  timestampMs: number;
  /** 4 or 16 bytes; an IPv4 address may have the form ::ffff:a.b.c.d. */
  readonly client: ByteRange;
  groupId: number;
  /** Id of the client if it identified itself by its key; 0 = it did not. */
  clientId: number;
  /** The queried name, in wire form, uncompressed and valid; stored in the log in lower case. */
  readonly qname: ByteRange;
  /** 0..65535 */
  qtype: number;
  protocol: ProtocolCode;
  status: QueryStatusCode;
  /** Exclusions from the log or statistics because of the client or the name. */
  exclusion: ExclusionBits;
  /** 0..4095, as sent. */
  rcode: number;
  dnssec: DnssecStatusCode;
  /** Type of the first answer record; 0 = the answer has none, `UNKNOWN_ANSWER` = unknown. */
  answerType: number;
  /** Extended error (RFC 8914) in the reply; -1 = none. */
  extendedError: number;
  /** Null if the status implies the origin. */
  origin: DecisionOrigin | null;
  responseTimeUs: number;
  cached: boolean;
  /** The deciding rule; null = nothing was blocked. */
  rule: LoggedRule | null;
  /** The name of the rule in wire form. */
  readonly ruleName: ByteRange;
  /** The alias in the answer that the rule matched, in wire form; empty if it matched the queried name. */
  readonly alias: ByteRange;
  /** The upstream's configured text, e.g. `udp://192.0.2.1:53`; null = no upstream was queried. */
  upstream: string | null;
  /** Answer records in wire form as sent; compression pointers are offsets into a message whose question is `qname`. */
  readonly answers: ByteRange;
}

/** An empty row, which the caller fills for each query. */
export function emptyRow(): QueryLogRow {
  return {
    bytes: new Uint8Array(0),
    timestampMs: 0,
    client: { at: 0, length: 16 },
    groupId: 0,
    clientId: 0,
    qname: { at: 0, length: 1 },
    qtype: 0,
    protocol: 0,
    status: 0,
    exclusion: Exclusion.NONE,
    rcode: 0,
    dnssec: 0,
    answerType: UNKNOWN_ANSWER,
    extendedError: -1,
    origin: null,
    responseTimeUs: 0,
    cached: false,
    rule: null,
    ruleName: { at: 0, length: 0 },
    alias: { at: 0, length: 0 },
    upstream: null,
    answers: { at: 0, length: 0 },
  };
}
