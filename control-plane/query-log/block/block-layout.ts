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

/** Versions of the layout; a reader rejects all others. */
export const BlockFormat = {
  PLAIN: 1,
  /** A row may represent several queries: adds a frame and a field of the head. */
  WITH_REPEATS: 2,
} as const;
/** Maximum number of queries in a block, so that an index into a dictionary fits in 16 bits. */
export const MAX_BLOCK_ROWS = 65_535;
/** Microseconds of an hour: times in a block are relative to the start of its hour. */
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
   * Per name: u32 number of queries, u16 index of the rule plus one (0 = none), u16 offset in the name's text at which
   * the rule's name starts, u8 `NameClass`. A name has a separate entry for each rule and class.
   */
  NAME_NUMBERS: 2,
  /**
   * Per query: u32, zigzag-encoded difference (modulo 2^32) between its time and that of the previous query, in
   * microseconds since the start of the hour.
   */
  TIMES: 3,
  /** Per query: u16, index of its name. */
  NAMES: 4,
  /** Per query: u16, index of its client in the list of the head. */
  CLIENTS: 5,
  /** Per query: u16, index of its outcome in the list of the head. */
  OUTCOMES: 6,
  /** Per query: u32, microseconds until the answer was sent. */
  RESPONSE_TIMES: 7,
  /** Per query: u16, index of its answer records plus one; 0 = none stored. */
  ANSWERS: 8,
  /** Per query: u32, smallest TTL of its answer records. */
  ANSWER_TTLS: 9,
  /**
   * Distinct answer records: per entry a u16 length in bytes (two planes) and a u8 form, then the bytes of all entries:
   * resource records in wire form. Their compression pointers are offsets into a message that starts with a header and
   * the query's name as its question. In form 0, the smallest TTL is subtracted from each TTL; form 1 contains the
   * records as sent, because they could not be parsed.
   */
  ANSWER_RECORDS: 10,
} as const;
/**
 * Frames of a block with answers; a block without answers ends before `Frame.ANSWERS`. In format 2, one more frame is
 * last in this order, although it is stored in the database column of the head: `Repeats` as planes of u16 row indexes,
 * u16 client indexes and u32 numbers of queries.
 */
export const FRAME_COUNT = 11;
/** Frames of a block without answers. */
export const FRAME_COUNT_BARE = 8;

/** Class of the queries for a name, by which top lists count them. */
export const NameClass = {
  /** Answered from upstreams or the cache. */
  RESOLVED: 0,
  /** A status that counts as blocked. */
  BLOCKED: 1,
  /** Local answers, refusals and failures. */
  OTHER: 2,
} as const;

const RESOLVED: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.CACHED, QueryStatus.STALE]);

/** The `NameClass` of queries with a status. */
export function nameClassOf(status: QueryStatusCode): number {
  if (isBlockedStatus(status)) return NameClass.BLOCKED;
  return RESOLVED.has(status) ? NameClass.RESOLVED : NameClass.OTHER;
}

/**
 * Address, group id, number of queries and of blocked queries; also the client's id if the client identified itself by
 * its key.
 */
export type HeadClient = readonly [
  address: string,
  groupId: number,
  queries: number,
  blocked: number,
  clientId?: number,
];
/**
 * The outcome of a query, and the number of queries with the same outcome; then, if known, the type of the answer's
 * first record (0 = none), the extended error (-1 = none) and the origin of the decision.
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
 * Source of a rule, its text in parts, and the ids of all lists that contain the rule (none for a manual rule). If
 * `atName` is true, the text is `before`, then the queried name from the rule's offset on, then `after`. If `atName` is
 * false, the text is `before`, and `after` is the alias that the rule matched, or '' if it matched the queried name.
 */
export type HeadRule = readonly [
  source: string,
  before: string,
  atName: boolean,
  after: string,
  lists?: readonly number[],
];

/**
 * Queries that a row represents in addition to its own query, with an entry for each row and client. A client of an
 * entry may have no row. All these queries arrived in the same second (UTC) as the query of their row.
 */
export interface Repeats {
  /** Number of queries of all entries. */
  readonly total: number;
  /** By entry: index of the row, in ascending order; index of the client; number of queries. */
  readonly rows: Uint16Array;
  readonly clients: Uint16Array;
  readonly queries: Uint32Array;
}

/**
 * Metadata of a block, and its small dictionaries. Counts of queries in the head are numbers of rows, without repeats.
 */
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
  /** Null in format 1. The JSON of the head contains only the total. */
  readonly repeats: Repeats | null;
}

/**
 * A stored block. Its frames are in four pieces, because a reader that needs only some columns does not fetch all
 * pieces.
 */
export interface EncodedBlock {
  readonly rowCount: number;
  readonly hourUs: number;
  readonly firstUs: number;
  readonly lastUs: number;
  /** Number of queries that the rows represent in addition to their own. */
  readonly repeats: number;
  /** Size in bytes of each frame, indexed by `Frame`. */
  readonly lengths: readonly number[];
  /** CRC-32 (as in RFC 1952) of each stored (compressed) frame, as a signed 32-bit number. */
  readonly checksums: readonly number[];
  /** `Frame.HEAD`, followed by the frame of the repeats if there is one. */
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
