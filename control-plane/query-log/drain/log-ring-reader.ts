/**
 * The read side of one thread's log ring: takes records, and sleeps without cost until there are some. What
 * the bytes of a record mean is `log-drain.ts`.
 */
import { LogRecord, LogRing } from '../../../shared/query-log.ts';

/** Read side of one ring. */
export class LogRingReader {
  private readonly control: Int32Array;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  private readonly mask: number;
  /** A wait on ASLEEP_WORD is under way; there is never a second one, since a wait cannot be taken back. */
  private isWaiting = false;

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

  /**
   * Has `wake` called once there are records; it may be called without need. False, and nothing to rely on,
   * where there are some now. Sleeping again repairs what a thread left half done that died while it notified.
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

  /** Lets go of the wait that is under way. */
  endSleep(): void {
    Atomics.store(this.control, LogRing.ASLEEP_WORD, 0);
    Atomics.notify(this.control, LogRing.ASLEEP_WORD);
  }

  dropped(): number {
    return Atomics.load(this.control, LogRing.DROPPED_WORD) >>> 0;
  }
}
