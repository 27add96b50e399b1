/**
 * One answered query as the log stores it: the enumerations (status, protocol, DNSSEC state) with their numbers in
 * shared memory and in the database, and the byte layout of one record in a thread's log ring. `dns-worker/report/`
 * writes records, `control-plane/query-log/drain/` reads them.
 */

/** The outcome of a query. The numbers are stored: never renumber them, only append. */
export const QueryStatus = {
  ALLOWED: 0,
  CACHED: 1,
  STALE: 2,
  LOCAL: 3,
  BLOCKED_LIST: 4,
  BLOCKED_MANAGED: 5,
  BLOCKED_REGEX: 6,
  BLOCKED_CNAME: 7,
  BLOCKED_SERVICE: 8,
  BLOCKED_SCHEDULE: 9,
  BLOCKED_REBIND: 10,
  SAFE_SEARCH: 11,
  RATE_LIMITED: 12,
  REFUSED: 13,
  SERVFAIL: 14,
  TIMEOUT: 15,
  BLOCKED_PTR: 16,
  BLOCKED_NON_FQDN: 17,
} as const;
export type QueryStatusName = keyof typeof QueryStatus;
export type QueryStatusCode = (typeof QueryStatus)[QueryStatusName];

/** Status names by their stored number. */
export const QUERY_STATUS_NAMES = Object.keys(QueryStatus) as readonly QueryStatusName[];

/** Statuses that count as blocked in statistics. */
export const BLOCKED_STATUSES: readonly QueryStatusCode[] = [
  QueryStatus.BLOCKED_LIST,
  QueryStatus.BLOCKED_MANAGED,
  QueryStatus.BLOCKED_REGEX,
  QueryStatus.BLOCKED_CNAME,
  QueryStatus.BLOCKED_SERVICE,
  QueryStatus.BLOCKED_SCHEDULE,
  QueryStatus.BLOCKED_REBIND,
  QueryStatus.BLOCKED_PTR,
  QueryStatus.BLOCKED_NON_FQDN,
];

export const BLOCKED_STATUS_NAMES: readonly QueryStatusName[] = BLOCKED_STATUSES.map(
  (code) => QUERY_STATUS_NAMES[code]!,
);
/** Name that stands for all blocked statuses in a filter. */
export const ANY_BLOCKED = 'BLOCKED';

/** The blocked statuses as a bit mask. */
const BLOCKED_BITS = BLOCKED_STATUSES.reduce((bits: number, status) => bits | (1 << status), 0);

/** Whether a status counts as blocked in statistics. */
export function isBlockedStatus(code: number): boolean {
  return ((BLOCKED_BITS >>> code) & 1) === 1;
}

/**
 * Origin of a decision if the status alone does not show it: for BLOCKED_CNAME, a managed domain or a regex filter
 * matched the alias; for LOCAL, the name is a canary, with which programs check whether they may bypass this server.
 */
export const DECISION_ORIGINS = ['managed', 'regex', 'canary'] as const;
export type DecisionOrigin = (typeof DECISION_ORIGINS)[number];

/** A status, followed by its origin if it has one. */
export type Decision =
  QueryStatusName | `BLOCKED_CNAME:${Exclude<DecisionOrigin, 'canary'>}` | 'LOCAL:canary';

/** How a query reached Weir. The numbers are stored. */
export const Protocol = { udp: 0, tcp: 1, dot: 2, doh: 3 } as const;
export type ProtocolName = keyof typeof Protocol;
export type ProtocolCode = (typeof Protocol)[ProtocolName];
export const PROTOCOL_NAMES = Object.keys(Protocol) as readonly ProtocolName[];

/** The DNSSEC state of an answer. The numbers are stored. */
export const DnssecStatus = { unchecked: 0, secure: 1, insecure: 2, bogus: 3, indeterminate: 4 } as const;
export type DnssecStatusName = keyof typeof DnssecStatus;
export type DnssecStatusCode = (typeof DnssecStatus)[DnssecStatusName];
export const DNSSEC_STATUS_NAMES = Object.keys(DnssecStatus) as readonly DnssecStatusName[];

/**
 * Byte layout of one record: a fixed header, then the lower-case qname in wire form, then, on the next word, the answer
 * RRs in wire form as sent (compression pointers are offsets into a message whose question is this qname). All integers
 * are little-endian (the machine's byte order; rings never leave the machine).
 */
export const LogRecord = {
  /** Size of one record in bytes. */
  SIZE: 320,
  /** f64: time of arrival, Unix milliseconds. */
  TIMESTAMP_MS: 0,
  /** u32: microseconds from arrival until the answer is passed to the kernel. */
  RESPONSE_TIME_US: 8,
  /** u32: version of the snapshot that decided, within which RULE_ATTRIBUTE is valid. */
  SNAPSHOT_VERSION: 12,
  /** 16 bytes: client address; IPv4 as ::ffff:a.b.c.d. */
  CLIENT: 16,
  /** u32: id of the client's group. */
  GROUP_ID: 32,
  /**
   * u32: attribute id of the deciding rule plus one; 0 = no rule. For LogMark.REFUSED: number of refused queries of the
   * client's network since its last record, including this one.
   */
  RULE_ATTRIBUTE: 36,
  /** u16: qtype. */
  QTYPE: 40,
  /** u16: upstream index plus one; 0 = no upstream was queried. */
  UPSTREAM: 42,
  /** u8: QueryStatus. */
  STATUS: 44,
  /** u8: Protocol. */
  PROTOCOL: 45,
  /** u8: rcode as sent. */
  RCODE: 46,
  /** u8: DnssecStatus. */
  DNSSEC: 47,
  /** u8: 1 = the answer came from the cache. */
  CACHED: 48,
  /** u8: offset of the deciding rule's name in the qname, or in the name in the answer that the rule matched. */
  RULE_NAME_OFFSET: 49,
  /** u8: length of the qname in bytes, including the final zero (1..255). */
  QNAME_LENGTH: 50,
  /** u8: RuleKind of the deciding rule, see `snapshot/rule-table.ts`. */
  RULE_KIND: 51,
  /** u16: bytes of answer RRs after the qname; complete RRs only. */
  ANSWERS_LENGTH: 52,
  /** u16: type of the first answer RR as sent, even if the RRs do not fit; 0 = the answer has no RRs. */
  ANSWER_TYPE: 54,
  /** u8: `RuleOrigin` of the deciding rule. */
  RULE_ORIGIN: 56,
  /**
   * u8: length of the name of the answer (a CNAME's target) that the deciding rule matched; it follows the answer RRs
   * on the next word, in wire form. 0 = the rule matched the qname.
   */
  RULE_NAME_LENGTH: 57,
  /** u8: LogMark; from `EXCLUSION_SHIFT` on, `Exclusion` bits. */
  MARK: 58,
  /** u8: code of the extended error (RFC 8914) in the reply, plus one; 0 = none. */
  EXTENDED_ERROR: 59,
  /**
   * u32: id of the client that identified itself by its key; 0 = none. Only rings of resolve threads use this field: in
   * other rings it is always 0.
   */
  CLIENT_ID: 60,
  /** The qname. */
  QNAME: 64,
} as const;

/** Whether and why a query is in the log. */
export const LogMark = {
  /** The query is stored and counted. */
  COUNTED: 0,
  /** The query may belong to a probe: its record is read, but neither stored nor counted. */
  PROBE: 1,
  /** The client was refused: the record is a sample, for the list of refused networks. */
  REFUSED: 2,
  /** The query has no record: it is from Weir itself, or a health check. */
  NONE: 3,
} as const;
export type LogMarkCode = (typeof LogMark)[keyof typeof LogMark];

/**
 * Whether a query's client or name excludes it from the log or from statistics: bits. With both bits, the query has no
 * record.
 */
export const Exclusion = { NONE: 0, LOG: 1, STATS: 2, BOTH: 3 } as const;
export type ExclusionBits = (typeof Exclusion)[keyof typeof Exclusion];
/** Position of the `Exclusion` bits in a record's mark. */
export const EXCLUSION_SHIFT = 4;

/** Offset of the answer RRs in a record, bytes. */
export function logAnswersOffset(qnameLength: number): number {
  return LogRecord.QNAME + ((qnameLength + 3) & ~3);
}

/**
 * Behaviour if the log thread falls behind because it lacks CPU. `slow`: answers wait up to 10 ms for the log thread
 * before rows are dropped; `drop`: rows are dropped immediately.
 */
export const LOG_PRESSURES = ['slow', 'drop'] as const;
export type LogPressure = (typeof LOG_PRESSURES)[number];

/**
 * Words (i32) at the start of a ring, on separate cache lines, except that SLOW, which writers only read, is beside
 * ASLEEP.
 */
export const LogRing = {
  /** Number of records ever written (wraps at 2^32); only the writing thread stores it. */
  HEAD_WORD: 0,
  /** Number of records ever consumed; only the log thread stores it. */
  TAIL_WORD: 16,
  /** Records dropped because the ring was full. */
  DROPPED_WORD: 32,
  /**
   * 1 = the log thread sleeps on this word; a writer with new records sets it to 0 and wakes the thread. The log thread
   * stores 1 before its last read of HEAD, and the writer reads this word after storing HEAD, so at least one of the
   * two notices the other's store.
   */
  ASLEEP_WORD: 48,
  /** 1 = while the ring is nearly full, its writer waits briefly for the log thread (`LogPressure`). */
  SLOW_WORD: 49,
  /** Byte at which record 0 starts. */
  RECORDS_BYTE: 256,
} as const;

/** Bytes of shared memory for a ring of `records` (a power of two). */
export function logRingBytes(records: number): number {
  return LogRing.RECORDS_BYTE + records * LogRecord.SIZE;
}
