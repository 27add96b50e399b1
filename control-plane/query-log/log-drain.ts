/**
 * Takes records out of the threads' log rings and hands them on as rows. Turns what is a number there into
 * what a person knows: the list that decided, the rule as its author would write it, the upstream's name.
 */
import type { WorkerMemory } from '../../shared/messages.ts';
import {
  type DnssecStatusCode,
  isBlockedStatus,
  logAnswersOffset,
  LogRecord,
  LogRing,
  type ProtocolCode,
  type QueryStatusCode,
} from '../../shared/query-log.ts';
import type { DecidingRule } from '../snapshot/rule-history.ts';
import type { QueryLogRow } from './row.ts';

/** Names that the numbers of a record stand for. */
export interface RecordNames {
  /** The source and the text of a rule of a snapshot. */
  rule(version: number, rule: DecidingRule): { source: string; rule: string } | undefined;
  /** Configured text of the upstream at `index`. */
  upstream(index: number): string | undefined;
}

/** How often the rings are looked at, milliseconds: a quarter of what the larger one holds at full speed. */
const DRAIN_INTERVAL_MS = 20;
/** Records taken in one go before the control plane's loop gets its turn. */
const MAX_RECORDS_A_TURN = 4000;

/** Read side of one ring. */
class LogRingReader {
  private readonly control: Int32Array;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  private readonly mask: number;

  constructor(buffer: SharedArrayBuffer) {
    this.control = new Int32Array(buffer, 0, LogRing.RECORDS_BYTE >>> 2);
    this.bytes = new Uint8Array(buffer, LogRing.RECORDS_BYTE);
    this.view = new DataView(buffer, LogRing.RECORDS_BYTE);
    this.mask = this.bytes.length / LogRecord.SIZE - 1;
  }

  /** Hands the offset of each of at most `limit` records to `take`; returns how many. */
  drain(limit: number, take: (reader: LogRingReader, at: number) => void): number {
    const head = Atomics.load(this.control, LogRing.HEAD_WORD);
    let tail = Atomics.load(this.control, LogRing.TAIL_WORD);
    let taken = 0;
    for (; tail !== head && taken < limit; taken++) {
      take(this, (tail & this.mask) * LogRecord.SIZE);
      tail = (tail + 1) | 0;
    }
    if (taken > 0) Atomics.store(this.control, LogRing.TAIL_WORD, tail);
    return taken;
  }

  dropped(): number {
    return Atomics.load(this.control, LogRing.DROPPED_WORD) >>> 0;
  }
}

/** Moves records from the rings of all threads to the writer. */
export class LogDrain {
  private readonly readers: readonly LogRingReader[];
  private readonly names: RecordNames;
  private readonly append: (row: QueryLogRow) => void;
  private timer: NodeJS.Timeout | undefined;
  private readonly row: QueryLogRow;

  constructor(memories: readonly WorkerMemory[], names: RecordNames, append: (row: QueryLogRow) => void) {
    this.readers = memories.flatMap((memory) => [
      new LogRingReader(memory.answerLog),
      new LogRingReader(memory.resolveLog),
    ]);
    this.names = names;
    this.append = append;
    this.row = emptyRow();
  }

  /** Begins to look at the rings. */
  start(): void {
    this.timer = setInterval(() => this.drain(MAX_RECORDS_A_TURN), DRAIN_INTERVAL_MS);
  }

  /** Takes what is left and ends. */
  stop(): void {
    clearInterval(this.timer);
    this.drain(Infinity);
  }

  /** Records that rings had no room for, ever. */
  dropped(): number {
    return this.readers.reduce((sum, reader) => sum + reader.dropped(), 0);
  }

  private drain(limit: number): void {
    for (const reader of this.readers) reader.drain(limit, (from, at) => this.take(from, at));
  }

  private take(reader: LogRingReader, at: number): void {
    const { bytes, view } = reader;
    const { row } = this;
    const qnameLength = bytes[at + LogRecord.QNAME_LENGTH]!;
    const qnameAt = at + LogRecord.QNAME;
    const answersLength = view.getUint16(at + LogRecord.ANSWERS_LENGTH, true);
    const answersAt = at + logAnswersOffset(qnameLength);
    const upstream = view.getUint16(at + LogRecord.UPSTREAM, true);
    row.timestampMs = view.getFloat64(at + LogRecord.TIMESTAMP_MS, true);
    row.client = bytes.subarray(at + LogRecord.CLIENT, at + LogRecord.CLIENT + 16);
    row.groupId = view.getUint32(at + LogRecord.GROUP_ID, true);
    row.qname = bytes.subarray(qnameAt, qnameAt + qnameLength);
    row.qtype = view.getUint16(at + LogRecord.QTYPE, true);
    row.protocol = bytes[at + LogRecord.PROTOCOL]! as ProtocolCode;
    row.status = bytes[at + LogRecord.STATUS]! as QueryStatusCode;
    row.rcode = bytes[at + LogRecord.RCODE]!;
    row.dnssec = bytes[at + LogRecord.DNSSEC]! as DnssecStatusCode;
    row.responseTimeUs = view.getUint32(at + LogRecord.RESPONSE_TIME_US, true);
    row.cached = bytes[at + LogRecord.CACHED] === 1;
    row.upstream = upstream === 0 ? null : (this.names.upstream(upstream - 1) ?? null);
    row.answers = answersLength === 0 ? null : bytes.subarray(answersAt, answersAt + answersLength);
    this.nameRule(reader, at);
    this.append(row);
  }

  private nameRule(reader: LogRingReader, at: number): void {
    const { row } = this;
    row.blockSource = null;
    row.blockRule = null;
    const attribute = reader.view.getUint32(at + LogRecord.RULE_ATTRIBUTE, true);
    if (attribute === 0 || !isBlockedStatus(row.status)) return;
    const version = reader.view.getUint32(at + LogRecord.SNAPSHOT_VERSION, true);
    const nameAt = reader.bytes[at + LogRecord.RULE_NAME_OFFSET]!;
    // The rule of a name in the answer stands behind the answer records.
    const answersLength = reader.view.getUint16(at + LogRecord.ANSWERS_LENGTH, true);
    const elsewhere = at + logAnswersOffset(row.qname.length) + ((answersLength + 3) & ~3);
    const ruleNameLength = reader.bytes[at + LogRecord.RULE_NAME_LENGTH]!;
    const named = this.names.rule(version, {
      origin: reader.bytes[at + LogRecord.RULE_ORIGIN]!,
      index: attribute - 1,
      kinds: reader.bytes[at + LogRecord.RULE_KIND]!,
      name:
        ruleNameLength === 0
          ? row.qname.subarray(nameAt)
          : reader.bytes.subarray(elsewhere, elsewhere + ruleNameLength),
      groupId: row.groupId,
    });
    row.blockSource = named?.source ?? null;
    row.blockRule = named?.rule ?? null;
  }
}

function emptyRow(): QueryLogRow {
  return {
    timestampMs: 0,
    client: new Uint8Array(16),
    groupId: 0,
    qname: new Uint8Array(1),
    qtype: 0,
    protocol: 0,
    status: 0,
    rcode: 0,
    dnssec: 0,
    responseTimeUs: 0,
    cached: false,
    blockSource: null,
    blockRule: null,
    upstream: null,
    answers: null,
  };
}
