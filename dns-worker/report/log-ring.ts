/**
 * Writes one record per query into the thread's log ring, directly from the Query and the reply in its slot. If the
 * ring is full, the record is dropped and counted. Before a record is dropped, if `database.log_pressure` is `slow`,
 * the thread briefly yields its core to the reader: the reader never waits while it empties the rings, so a full ring
 * means that the reader lacks CPU.
 */
import { skipName } from '../../shared/dns/wire.ts';
import { EXCLUSION_SHIFT, logAnswersOffset, LogMark, LogRecord, LogRing } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';

/** Used share of a ring above which its writer waits. */
const FULL_SHARE = 7 / 8;
/**
 * Maximum wait in milliseconds, and minimum number of records between two waits: a batch of answers causes at most one
 * wait.
 */
const WAIT_MS = 10;
const WAIT_EVERY = 64;
/** After this many waits in a row (0.6 s) without progress, the writer no longer waits for the reader. */
const MAX_STALLS = 64;

/** Write side of one log ring. */
export class LogRingWriter {
  private readonly control: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly halves: Uint16Array;
  protected readonly words: Int32Array;
  private readonly doubles: Float64Array;
  protected readonly mask: number;
  protected head: number;
  private published: number;
  /** TAIL when it was last read; read again only if the ring looks full. */
  private tail: number;
  /** Number of records in the ring above which the writer waits. */
  private readonly nearlyFull: number;
  /** Records dropped by this writer, and records written or dropped before the last wait. */
  private dropped = 0;
  private waitedAt: number;
  /** Waits in a row without progress of the reader, and TAIL at the last of them. */
  private stalls = 0;
  private stalledTail: number;

  constructor(buffer: SharedArrayBuffer) {
    this.control = new Int32Array(buffer, 0, LogRing.RECORDS_BYTE >>> 2);
    this.bytes = new Uint8Array(buffer, LogRing.RECORDS_BYTE);
    this.halves = new Uint16Array(buffer, LogRing.RECORDS_BYTE);
    this.words = new Int32Array(buffer, LogRing.RECORDS_BYTE);
    this.doubles = new Float64Array(buffer, LogRing.RECORDS_BYTE);
    this.mask = this.bytes.length / LogRecord.SIZE - 1;
    this.head = Atomics.load(this.control, LogRing.HEAD_WORD);
    this.published = this.head;
    this.tail = Atomics.load(this.control, LogRing.TAIL_WORD);
    this.nearlyFull = (this.mask * FULL_SHARE) | 0;
    this.stalledTail = this.tail;
    this.waitedAt = (this.head - WAIT_EVERY) | 0;
  }

  /** Appends the answered query; `publish` adds its response time. */
  write(query: Query, snapshotVersion: number): void {
    if (((this.head - this.tail) | 0) > this.mask) {
      this.tail = Atomics.load(this.control, LogRing.TAIL_WORD);
      if (((this.head - this.tail) | 0) > this.mask) {
        if (query.logMark === LogMark.COUNTED) Atomics.add(this.control, LogRing.DROPPED_WORD, 1);
        this.dropped = (this.dropped + 1) | 0;
        return;
      }
    }
    const at = (this.head & this.mask) * LogRecord.SIZE;
    this.writeHead(at, query, snapshotVersion);
    this.writeTail(at, query);
    this.head = (this.head + 1) | 0;
  }

  /**
   * Makes all records since the last call visible to the reader. `responseTimeUs` applies to all of them, because the
   * answers of a batch are sent together. Wakes the reader if it sleeps. Waits if the reader is far behind, so call
   * this method after the answers are sent.
   */
  publish(responseTimeUs: number): void {
    this.show(responseTimeUs);
    if (((this.head - this.tail) | 0) > this.nearlyFull) this.waitForReader();
  }

  private show(responseTimeUs: number): void {
    if (this.published === this.head) return;
    for (; this.published !== this.head; this.published = (this.published + 1) | 0) {
      const at = (this.published & this.mask) * LogRecord.SIZE;
      this.words[(at + LogRecord.RESPONSE_TIME_US) >>> 2] = responseTimeUs;
    }
    Atomics.store(this.control, LogRing.HEAD_WORD, this.head);
    if (Atomics.load(this.control, LogRing.ASLEEP_WORD) === 1) this.wakeReader();
  }

  private wakeReader(): void {
    Atomics.store(this.control, LogRing.ASLEEP_WORD, 0);
    Atomics.notify(this.control, LogRing.ASLEEP_WORD);
  }

  /** Yields the core to a reader that is behind. */
  private waitForReader(): void {
    const { control } = this;
    this.tail = Atomics.load(control, LogRing.TAIL_WORD);
    if (this.tail !== this.stalledTail) this.stalls = 0;
    if (((this.head - this.tail) | 0) <= this.nearlyFull) return;
    if (Atomics.load(control, LogRing.SLOW_WORD) === 0 || this.stalls >= MAX_STALLS) return;
    const handled = (this.head + this.dropped) | 0;
    if (((handled - this.waitedAt) | 0) < WAIT_EVERY) return;
    this.waitedAt = handled;
    this.stalls++;
    this.stalledTail = this.tail;
    Atomics.wait(control, LogRing.TAIL_WORD, this.tail, WAIT_MS);
  }

  private writeHead(at: number, query: Query, snapshotVersion: number): void {
    const { bytes, words, halves } = this;
    this.doubles[(at + LogRecord.TIMESTAMP_MS) >>> 3] = query.arrivedMs;
    words[(at + LogRecord.SNAPSHOT_VERSION) >>> 2] = snapshotVersion;
    const { clientBytes, clientAt } = query;
    for (let i = 0; i < 16; i++) bytes[at + LogRecord.CLIENT + i] = clientBytes[clientAt + i]!;
    words[(at + LogRecord.GROUP_ID) >>> 2] = query.groupId;
    words[(at + LogRecord.RULE_ATTRIBUTE) >>> 2] = query.ruleAttribute;
    halves[(at + LogRecord.QTYPE) >>> 1] = query.qtype;
    halves[(at + LogRecord.UPSTREAM) >>> 1] = query.upstream;
    bytes[at + LogRecord.STATUS] = query.status;
    bytes[at + LogRecord.PROTOCOL] = query.protocol;
    bytes[at + LogRecord.RCODE] = query.rcode;
    bytes[at + LogRecord.DNSSEC] = query.dnssec;
    bytes[at + LogRecord.CACHED] = query.cached;
    bytes[at + LogRecord.RULE_NAME_OFFSET] = query.ruleNameOffset;
    bytes[at + LogRecord.RULE_KIND] = query.ruleKind;
    bytes[at + LogRecord.RULE_ORIGIN] = query.ruleOrigin;
    bytes[at + LogRecord.MARK] = query.logMark | (query.exclusion << EXCLUSION_SHIFT);
    bytes[at + LogRecord.EXTENDED_ERROR] = query.extendedError + 1;
  }

  /** Copies the qname, and the answer RRs if they fit completely. */
  private writeTail(at: number, query: Query): void {
    const { bytes, halves, words } = this;
    const { qnameWords, qnameLength, view } = query;
    bytes[at + LogRecord.QNAME_LENGTH] = qnameLength;
    const qnameAt = (at + LogRecord.QNAME) >>> 2;
    for (let i = 0; i << 2 < qnameLength; i++) words[qnameAt + i] = qnameWords[i]!;
    const answersAt = logAnswersOffset(qnameLength);
    const fits = answersAt + query.answersLength <= LogRecord.SIZE;
    const length = fits ? query.answersLength : 0;
    halves[(at + LogRecord.ANSWERS_LENGTH) >>> 1] = length;
    halves[(at + LogRecord.ANSWER_TYPE) >>> 1] = firstType(query);
    const from = query.at + query.answersAt;
    const to = (at + answersAt) >>> 2;
    for (let i = 0; i << 2 < length; i++) words[to + i] = view.getInt32(from + (i << 2), true);
    bytes[at + LogRecord.RULE_NAME_LENGTH] = 0;
    if (query.ruleNameLength !== 0) this.writeRuleName(at, at + answersAt + ((length + 3) & ~3), query);
  }

  /**
   * Writes the name in the answer that a rule matched; if the name does not fit, only the suffix that the rule matched.
   */
  private writeRuleName(at: number, nameAt: number, query: Query): void {
    const { bytes } = this;
    const { ruleName, ruleNameLength, ruleNameOffset } = query;
    const capacity = at + LogRecord.SIZE - nameAt;
    const from = ruleNameLength <= capacity ? 0 : ruleNameOffset;
    bytes[at + LogRecord.RULE_NAME_OFFSET] = ruleNameOffset - from;
    const length = ruleNameLength - from;
    if (length > capacity) return;
    bytes[at + LogRecord.RULE_NAME_LENGTH] = length;
    for (let i = 0; i < length; i++) bytes[nameAt + i] = ruleName[from + i]!;
  }
}

/** Type of the first answer record of the reply; 0 = no records. */
function firstType(query: Query): number {
  if (query.answersCount === 0) return 0;
  const { bytes } = query;
  const from = query.at + query.answersAt;
  // In almost every answer, the owner of the first record is a pointer to the question.
  const fields = bytes[from]! >= 0xc0 ? from + 2 : skipName(bytes, from, from + query.answersLength);
  return fields < 0 ? 0 : (bytes[fields]! << 8) | bytes[fields + 1]!;
}

/**
 * Write side of the log ring of a resolve thread: its records also contain the client that identified itself by its
 * key.
 */
export class KeyedLogRing extends LogRingWriter {
  override write(query: Query, snapshotVersion: number): void {
    const before = this.head;
    super.write(query, snapshotVersion);
    if (this.head === before) return;
    const at = (before & this.mask) * LogRecord.SIZE;
    this.words[(at + LogRecord.CLIENT_ID) >>> 2] = query.keyed?.clientId ?? 0;
  }
}
