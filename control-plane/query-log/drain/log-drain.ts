/**
 * Reads records from the threads' log rings and passes them on as rows. Replaces ids and indexes with texts: the name
 * of the deciding list, the rule in the syntax of its source, and the upstream.
 */
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import {
  type DecisionOrigin,
  type DnssecStatusCode,
  EXCLUSION_SHIFT,
  type ExclusionBits,
  isBlockedStatus,
  logAnswersOffset,
  LogMark,
  LogRecord,
  type ProtocolCode,
  QueryStatus,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';
import { ExtendedError } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { RuleOrigin } from '../../../shared/snapshot/rule-origin.ts';
import { LogRingReader } from './log-ring-reader.ts';
import { type DecidingRuleNumbers, emptyRow, type LoggedRule, type QueryLogRow } from '../rows/row.ts';

/** Texts for the ids and indexes in a record. */
export interface RecordNames {
  /** Called before records are read; receives the names that threads sent before they wrote these records. */
  catchUp?(): void;
  /** A rule of a snapshot; `name()` returns the name that it matched, if needed. */
  rule(version: number, rule: DecidingRuleNumbers, name: () => Uint8Array): LoggedRule | undefined;
  /** The schedule that blocked a group. */
  schedule(version: number, groupId: number): LoggedRule | undefined;
  /** Configured text of the upstream at `index`. */
  upstream(index: number): string | undefined;
}

/** Receiver of rows. */
export interface LogSink {
  /** One row; its memory is reused afterwards. */
  append(row: QueryLogRow): void;
  /** A row whose query may be from a probe; the row is neither stored nor counted. */
  see?(row: QueryLogRow): void;
  /**
   * Called with a sample of the queries from clients without access. `queries` is the number of queries from the
   * client's network that were refused since the last sample. The row is neither stored nor counted.
   */
  refuse?(row: QueryLogRow, queries: number): void;
  /** Rows that were dropped because a ring was full. */
  lose(rows: number): void;
  /** Called after each turn in which records were read. */
  turned?(): void;
}

/**
 * Interval between reads while there are records, in milliseconds: at the maximum query rate, a ring is at most a
 * quarter full.
 */
const DRAIN_INTERVAL_MS = 20;
/** Interval while the rings are empty, needed if a thread dies before it wakes the drain. */
const SLEEP_MS = 1000;
/** Maximum number of records that are read per ring before other work of the event loop runs. */
const MAX_RECORDS_PER_TURN = 4000;

/** Moves records from the rings of all threads to the writer. */
export class LogDrain {
  private readonly readers: readonly LogRingReader[];
  private readonly names: RecordNames;
  private readonly sink: LogSink;
  /** Number of lost records that were already reported to the sink. */
  private lostRows: number;
  private timer: NodeJS.Timeout | undefined;
  private nextTurn: NodeJS.Immediate | undefined;
  private isAsleep = false;
  private readonly row: QueryLogRow = emptyRow();
  private readonly numbers = { origin: 0, index: 0, kinds: 0, groupId: 0 };

  private readonly catchUp: (() => void) | undefined;

  /** `lostRows`: number of lost records that were already reported to the sink. */
  constructor(
    memories: readonly Pick<WorkerMemory, 'answerLog' | 'resolveLog'>[],
    names: RecordNames,
    sink: LogSink,
    lostRows = 0,
  ) {
    this.lostRows = lostRows;
    this.catchUp = names.catchUp && (() => names.catchUp?.());
    this.readers = memories.flatMap((memory) => [
      new LogRingReader(memory.answerLog),
      new LogRingReader(memory.resolveLog),
    ]);
    this.names = names;
    this.sink = sink;
  }

  /** Starts reading the rings. */
  start(): void {
    this.timer = setTimeout(this.takeTurn, DRAIN_INTERVAL_MS);
  }

  /** Reads the remaining records and stops. */
  stop(): void {
    clearTimeout(this.timer);
    clearImmediate(this.nextTurn);
    this.isAsleep = false;
    for (const reader of this.readers) reader.endSleep();
    this.readAll();
  }

  /** Reads all available records. */
  readAll(): void {
    this.drain(Infinity);
  }

  /** Number of records dropped since the start because a ring was full. */
  dropped(): number {
    return this.readers.reduce((sum, reader) => sum + reader.dropped(), 0);
  }

  /**
   * Reads a turn of records. If a ring has more, the next turn follows as soon as other work of the event loop has run.
   */
  private readonly takeTurn = (): void => {
    const taken = this.drain(MAX_RECORDS_PER_TURN);
    this.nextTurn = taken === MAX_RECORDS_PER_TURN ? setImmediate(this.takeTurn) : undefined;
    if (this.nextTurn !== undefined) return;
    this.isAsleep = taken === 0 && this.sleep();
    this.timer = setTimeout(this.takeTurn, this.isAsleep ? SLEEP_MS : DRAIN_INTERVAL_MS);
  };

  /** Arranges for every thread to wake the drain at its next record; false if a ring already has records. */
  private sleep(): boolean {
    let isAsleep = true;
    for (const reader of this.readers) isAsleep = reader.sleep(this.wake) && isAsleep;
    return isAsleep;
  }

  /** Called when records have arrived; waits for more before reading them. */
  private readonly wake = (): void => {
    if (!this.isAsleep) return;
    this.isAsleep = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.takeTurn, DRAIN_INTERVAL_MS);
  };

  /** Reads at most `limit` records per ring; returns the largest number read from a ring. */
  private drain(limit: number): number {
    let max = 0;
    for (const reader of this.readers)
      max = Math.max(max, reader.drain(limit, this.takeRecord, this.catchUp));
    const lost = this.dropped() - this.lostRows;
    if (lost > 0) {
      this.lostRows += lost;
      this.sink.lose(lost);
    }
    if (max > 0) this.sink.turned?.();
    return max;
  }

  private readonly takeRecord = (reader: LogRingReader, at: number): void => this.readRecord(reader, at);

  private readRecord(reader: LogRingReader, at: number): void {
    const { bytes, view } = reader;
    const { row } = this;
    const qnameLength = bytes[at + LogRecord.QNAME_LENGTH]!;
    const upstream = view.getUint16(at + LogRecord.UPSTREAM, true);
    row.bytes = bytes;
    row.timestampMs = view.getFloat64(at + LogRecord.TIMESTAMP_MS, true);
    row.client.at = at + LogRecord.CLIENT;
    row.groupId = view.getUint32(at + LogRecord.GROUP_ID, true);
    row.clientId = view.getUint32(at + LogRecord.CLIENT_ID, true);
    row.qname.at = at + LogRecord.QNAME;
    row.qname.length = qnameLength;
    row.qtype = view.getUint16(at + LogRecord.QTYPE, true);
    row.protocol = bytes[at + LogRecord.PROTOCOL]! as ProtocolCode;
    row.status = bytes[at + LogRecord.STATUS]! as QueryStatusCode;
    row.rcode = bytes[at + LogRecord.RCODE]!;
    row.dnssec = bytes[at + LogRecord.DNSSEC]! as DnssecStatusCode;
    row.responseTimeUs = view.getUint32(at + LogRecord.RESPONSE_TIME_US, true);
    row.cached = bytes[at + LogRecord.CACHED] === 1;
    row.upstream = upstream === 0 ? null : (this.names.upstream(upstream - 1) ?? null);
    row.answers.at = at + logAnswersOffset(qnameLength);
    row.answers.length = view.getUint16(at + LogRecord.ANSWERS_LENGTH, true);
    row.answerType = view.getUint16(at + LogRecord.ANSWER_TYPE, true);
    row.extendedError = bytes[at + LogRecord.EXTENDED_ERROR]! - 1;
    row.rule = this.ruleOf(reader, at);
    row.origin = originOf(row, bytes[at + LogRecord.RULE_ORIGIN]!);
    const marks = bytes[at + LogRecord.MARK]!;
    row.exclusion = (marks >>> EXCLUSION_SHIFT) as ExclusionBits;
    const mark = marks & ((1 << EXCLUSION_SHIFT) - 1);
    if (mark === LogMark.COUNTED) this.sink.append(row);
    else if (mark === LogMark.PROBE) this.sink.see?.(row);
    else if (mark === LogMark.REFUSED)
      this.sink.refuse?.(row, view.getUint32(at + LogRecord.RULE_ATTRIBUTE, true));
  }

  private ruleOf({ bytes, view }: LogRingReader, at: number): LoggedRule | null {
    const { row, numbers } = this;
    row.alias.length = 0;
    const version = view.getUint32(at + LogRecord.SNAPSHOT_VERSION, true);
    if (row.status === QueryStatus.BLOCKED_SCHEDULE) return this.names.schedule(version, row.groupId) ?? null;
    const attribute = view.getUint32(at + LogRecord.RULE_ATTRIBUTE, true);
    const isRewritten =
      row.status === QueryStatus.LOCAL && bytes[at + LogRecord.RULE_ORIGIN] === RuleOrigin.SPECIAL;
    if (attribute === 0 || !(isRewritten || isBlockedStatus(row.status))) return null;
    const { ruleName, answers, qname } = row;
    ruleName.length = bytes[at + LogRecord.RULE_NAME_LENGTH]!;
    if (ruleName.length === 0) {
      ruleName.at = qname.at;
      ruleName.length = qname.length;
    } else {
      // A rule name or alias from the answer is stored after the answer records.
      ruleName.at = answers.at + ((answers.length + 3) & ~3);
      row.alias.at = ruleName.at;
      row.alias.length = row.status === QueryStatus.BLOCKED_CNAME ? ruleName.length : 0;
    }
    const offset = bytes[at + LogRecord.RULE_NAME_OFFSET]!;
    ruleName.at += offset;
    ruleName.length -= offset;
    numbers.origin = bytes[at + LogRecord.RULE_ORIGIN]!;
    numbers.index = attribute - 1;
    numbers.kinds = bytes[at + LogRecord.RULE_KIND]!;
    numbers.groupId = row.groupId;
    return this.names.rule(version, numbers, this.ruleNameBytes) ?? null;
  }

  private readonly ruleNameBytes = (): Uint8Array => {
    const { bytes, ruleName } = this.row;
    return bytes.subarray(ruleName.at, ruleName.at + ruleName.length);
  };
}

/** Name of designated resolvers (RFC 9462); programs that get no resolver for this name keep using this server. */
const DESIGNATION_NAME = nameFromText('_dns.resolver.arpa')!;

function originOf(row: QueryLogRow, ruleOrigin: number): DecisionOrigin | null {
  if (row.status === QueryStatus.BLOCKED_CNAME) {
    if (ruleOrigin === RuleOrigin.MANAGED) return 'managed';
    return ruleOrigin === RuleOrigin.REGEX ? 'regex' : null;
  }
  if (row.status !== QueryStatus.LOCAL) return null;
  // Of local answers, only answers for canary domains have the extended error Blocked.
  return row.extendedError === ExtendedError.BLOCKED || isDesignation(row) ? 'canary' : null;
}

function isDesignation({ bytes, qname: { at, length } }: QueryLogRow): boolean {
  if (length !== DESIGNATION_NAME.length) return false;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== DESIGNATION_NAME[i]) return false;
  return true;
}
