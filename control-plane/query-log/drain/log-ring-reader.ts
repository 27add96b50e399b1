/**
 * The read side of one thread's log ring: reads records, and is woken when new ones arrive, without polling.
 * `log-drain.ts` interprets them.
 */
import { LogRecord, LogRing } from '../../../shared/query-log.ts';

/**
 * Mask of the number of records after which the reader releases the space of read records, even during a turn: a power
 * of two, minus one.
 */
const SHOW_MASK = 1023;

/** Sets whether the writer of a ring waits briefly while it is nearly full. */
export function slowWriter(ring: SharedArrayBuffer, isSlow: boolean): void {
  const control = new Int32Array(ring, 0, LogRing.RECORDS_BYTE >>> 2);
  Atomics.store(control, LogRing.SLOW_WORD, isSlow ? 1 : 0);
  if (!isSlow) Atomics.notify(control, LogRing.TAIL_WORD);
}

/** Read side of one ring. */
export class LogRingReader {
  private readonly control: Int32Array;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  private readonly mask: number;
  /** Whether a wait on ASLEEP_WORD is pending; at most one may be pending, because a wait cannot be cancelled. */
  private isWaiting = false;

  constructor(buffer: SharedArrayBuffer) {
    this.control = new Int32Array(buffer, 0, LogRing.RECORDS_BYTE >>> 2);
    this.bytes = new Uint8Array(buffer, LogRing.RECORDS_BYTE);
    this.view = new DataView(buffer, LogRing.RECORDS_BYTE);
    this.mask = this.bytes.length / LogRecord.SIZE - 1;
  }

  /**
   * Calls `begin`, and then `take` with the offset of each record, for at most `limit` records; does not read records
   * that are published after `begin` returns. Returns the number of records read. If `take` throws, the same record is
   * not read again.
   */
  drain(limit: number, take: (reader: LogRingReader, at: number) => void, begin?: () => void): number {
    const head = Atomics.load(this.control, LogRing.HEAD_WORD);
    let tail = Atomics.load(this.control, LogRing.TAIL_WORD);
    if (tail === head) return 0;
    begin?.();
    let taken = 0;
    try {
      while (tail !== head && taken < limit) {
        // Releases space during the turn, for a writer that does not wait when the ring is full.
        if ((taken & SHOW_MASK) === SHOW_MASK) Atomics.store(this.control, LogRing.TAIL_WORD, tail);
        const at = (tail & this.mask) * LogRecord.SIZE;
        tail = (tail + 1) | 0;
        taken++;
        take(this, at);
      }
    } finally {
      Atomics.store(this.control, LogRing.TAIL_WORD, tail);
      Atomics.notify(this.control, LogRing.TAIL_WORD);
    }
    return taken;
  }

  /**
   * Arranges for `wake` to be called when a record arrives; calls without a record are possible. Returns false, and
   * does not arrange a call, if there are records now. A repeated call is harmless, and is needed if a thread died
   * while notifying.
   */
  sleep(wake: () => void): boolean {
    const { control } = this;
    Atomics.store(control, LogRing.ASLEEP_WORD, 1);
    if (Atomics.load(control, LogRing.HEAD_WORD) !== Atomics.load(control, LogRing.TAIL_WORD)) return false;
    if (this.isWaiting) return true;
    const wait = Atomics.waitAsync(control, LogRing.ASLEEP_WORD, 1);
    if (!wait.async) return false;
    this.isWaiting = true;
    void wait.value.then(() => {
      this.isWaiting = false;
      wake();
    });
    return true;
  }

  /** Ends the pending wait. */
  endSleep(): void {
    Atomics.store(this.control, LogRing.ASLEEP_WORD, 0);
    Atomics.notify(this.control, LogRing.ASLEEP_WORD);
  }

  dropped(): number {
    return Atomics.load(this.control, LogRing.DROPPED_WORD) >>> 0;
  }
}
