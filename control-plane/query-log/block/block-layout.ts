/**
 * Layout of a query-log block: the answered queries of one run of one node within one hour, in columns, each compressed
 * as a separate zstd frame (RFC 8878). A run is one lifetime of the process; it numbers its queries from 0.
 * `deploy/query-log-format.md` describes the format for readers in other languages.
 */
import {
  type DecisionOrigin,
  type DnssecStatusName,
  isBlockedStatus,
  type ProtocolName,
  QueryStatus,
  type QueryStatusCode,
  type QueryStatusName,
} from '../../../shared/query-log.ts';

/** Versions of the layout; a reader refuses others. */
export const BlockFormat = {
  PLAIN: 1,
  /** Rows may represent more queries than one: an additional frame, and a field in the head. */
  WITH_REPEATS: 2,
} as const;
/** Maximum number of queries in a block, so that an index into a dictionary fits in 16 bits. */
export const MAX_BLOCK_ROWS = 65_535;
/** Microseconds of an hour: times of a block count from the start of its hour. */
export const HOUR_US = 3_600_000_000;

/**
 * The frames of a block, in the order in which their lengths and checksums are listed. Numbers are stored as byte
 * planes: the lowest bytes of all rows, then the second ones, and so on.
 */
export const Frame = {
  /** `BlockHead` as JSON. */
  HEAD: 0,
  /** Names in presentation form without the final dot, in lower case, each followed by a line feed. */
  NAME_TEXTS: 1,
  /**
   * Per name: u32 queries, u16 index of the rule plus one (0 = none), u16 offset of the rule's name in the text, u8
   * `NameClass`. A name has an entry for each rule and class.
   */
  NAME_NUMBERS: 2,
  /**
   * Per query: u32, zigzag difference (modulo 2^32) of its microseconds since the hour to those of the previous query.
   */
  TIMES: 3,
  /** Per query: u16, index of its name. */
  NAMES: 4,
  /** Per query: u16, index of its client in the head. */
  CLIENTS: 5,
  /** Per query: u16, index of its outcome in the head. */
  OUTCOMES: 6,
  /** Per query: u32, microseconds until the answer was sent. */
  RESPONSE_TIMES: 7,
  /** Per query: u16, index of its answer records plus one; 0 = none stored. */
  ANSWERS: 8,
  /** Per query: u32, smallest TTL of its answer records. */
  ANSWER_TTLS: 9,
  /**
   * Distinct answer records: per entry u16 (two planes) bytes and u8 form, then the bytes of all: resource records in
   * wire form, whose compression pointers count from a message with the query's name as its question. In form 0 the
   * query's smallest TTL is subtracted from each TTL; form 1 is as sent, because the records could not be parsed.
   */
  ANSWER_RECORDS: 10,
} as const;
/**
 * Frames of a block with answers; a block without answers ends before `Frame.ANSWERS`. In format 2 one more frame
 * follows in both cases, although it is in the column of the head: `Repeats` as planes of u16 rows, u16 clients and u32
 * queries.
 */
export const FRAME_COUNT = 11;
/** Frames of a block without answers. */
export const FRAME_COUNT_BARE = 8;

/** Class of the queries for a name, for lists of names. */
export const NameClass = {
  /** Answered from upstreams or the cache. */
  RESOLVED: 0,
  /** A status that counts as blocked. */
  BLOCKED: 1,
  /** Local answers, refusals and failures. */
  OTHER: 2,
} as const;

const RESOLVED: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.CACHED, QueryStatus.STALE]);

/** `NameClass` of a status. */
export function nameClassOf(status: QueryStatusCode): number {
  if (isBlockedStatus(status)) return NameClass.BLOCKED;
  return RESOLVED.has(status) ? NameClass.RESOLVED : NameClass.OTHER;
}

/** Address, group id, queries, blocked queries; and the client's id, if it identified itself by its key. */
export type HeadClient = readonly [
  address: string,
  groupId: number,
  queries: number,
  blocked: number,
  clientId?: number,
];
/**
 * The outcome of a query, and the number of queries with the same outcome; then, if they are known, the type of the
 * answer's first record (0 = none), the extended error (-1 = none) and the origin of the decision.
 */
export type HeadOutcome = readonly [
  qtype: number,
  status: QueryStatusName,
  rcode: number,
  protocol: ProtocolName,
  dnssec: DnssecStatusName,
  cached: boolean,
  upstream: string | null,
  queries: number,
  answerType?: number,
  extendedError?: number,
  origin?: DecisionOrigin | null,
];
/**
 * Source of a rule; its text, which is `before`, followed, if `atName`, by the name from its offset and by `after`; and
 * the ids of all lists that contain the rule. Without `atName`, `after` is the alias that the rule matched, '' = the
 * queried name. Manual rules have no lists.
 */
export type HeadRule = readonly [
  source: string,
  before: string,
  atName: boolean,
  after: string,
  lists?: readonly number[],
];

/**
 * Queries that rows represent in addition to themselves, an entry for each row and client. A client may have no row.
 * All of them arrived in the same second (UTC) as their row.
 */
export interface Repeats {
  /** All queries of all entries. */
  readonly total: number;
  /** By entry: index of the row, ascending; index of the client; queries. */
  readonly rows: Uint16Array;
  readonly clients: Uint16Array;
  readonly queries: Uint32Array;
}

/** Metadata of a block, and its small dictionaries. Query counts here are numbers of rows. */
export interface BlockHead {
  readonly format: (typeof BlockFormat)[keyof typeof BlockFormat];
  readonly rows: number;
  /** Start of the hour, microseconds since 1970. */
  readonly hour_us: number;
  /** Earliest and latest query, microseconds since 1970. */
  readonly first_us: number;
  readonly last_us: number;
  /** Number of names. */
  readonly names: number;
  /** Number of distinct answer records; 0 if none are stored. */
  readonly answers: number;
  readonly clients: readonly HeadClient[];
  readonly outcomes: readonly HeadOutcome[];
  readonly rules: readonly HeadRule[];
  /** Null in format 1; the JSON only has their total. */
  readonly repeats: Repeats | null;
}

/** A stored block: frames in four pieces, which readers of few columns fetch separately. */
export interface EncodedBlock {
  readonly rowCount: number;
  readonly hourUs: number;
  readonly firstUs: number;
  readonly lastUs: number;
  /** Queries that its rows represent in addition to themselves. */
  readonly repeats: number;
  /** Bytes of each frame, by `Frame`. */
  readonly lengths: readonly number[];
  /** CRC-32 (as in RFC 1952) of each frame as stored, as a signed 32-bit number. */
  readonly checksums: readonly number[];
  /** `Frame.HEAD`, followed by the repeats if there are any. */
  readonly head: Buffer;
  /** `NAME_TEXTS`, `NAME_NUMBERS` */
  readonly names: Buffer;
  /** `TIMES` to `RESPONSE_TIMES` */
  readonly queries: Buffer;
  /** `ANSWERS` to `ANSWER_RECORDS`; null if answers are not stored. */
  readonly answers: Buffer | null;
  /** Number of leading frames in `names` and `queries`, if a reader has fetched only part of them. */
  readonly firstFrames?: { readonly names: number; readonly queries: number };
}

/** A block that cannot be read: damaged, truncated, or in a newer format. */
export class DamagedBlock extends Error {
  override readonly name = 'DamagedBlock';
}
