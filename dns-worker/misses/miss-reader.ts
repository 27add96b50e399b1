/**
 * The resolve thread's end of the miss ring. Sleeps until the answer thread writes records (Atomics.waitAsync), and
 * reads them in portions, so that sockets also get their turn.
 */
import { setImmediate } from 'node:timers/promises';
import { COOKIE_SIZE } from '../../shared/dns/wire.ts';
import { WorkerControl } from '../../shared/threads/messages.ts';
import { MissFlags, MissRecord, MissRing } from '../../shared/memory/miss-ring.ts';
import { readOrigin, type UdpOrigin } from '../listeners/udp-reply.ts';
import type { ThreadGuard } from '../report/thread-guard.ts';
import type { FirstTryOutcome } from '../resolve/response/question.ts';

/** A query read from the ring; every buffer is a copy. */
export interface Miss {
  readonly message: Uint8Array;
  readonly client: Uint8Array;
  readonly arrivedMs: number;
  readonly arrivedMonotonicMs: number;
  /** Maximum UDP size from the OPT record; 0 = no EDNS. */
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  /** Client subnet and cookie, as in `ClientRequest`. */
  readonly ecs: Uint8Array | null;
  readonly cookie: Uint8Array | null;
  readonly hasValidCookie: boolean;
  /** Whether this is a refresh: no client is waiting. The message already contains the reply. */
  readonly isRefresh: boolean;
  readonly isRateLimited: boolean;
  /** Outcome of the first try, as in `ClientRequest`. */
  readonly firstTry: FirstTryOutcome | null;
  readonly passedVersion: number;
  readonly origin: UdpOrigin;
}

function firstTryOf(flags: number): FirstTryOutcome | null {
  switch (flags & MissFlags.FIRST_TRY) {
    case MissFlags.SILENT:
      return 'silent';
    case MissFlags.EXPOSED:
      return 'exposed';
    case MissFlags.TRUNCATED:
      return 'truncated';
    case MissFlags.SERVFAIL:
      return 'servfail';
    default:
      return null;
  }
}

/** Records that are read before other events of the thread run. */
const PORTION = 128;

/** Read side of a miss ring. */
export class MissReader {
  private readonly ring: Int32Array;
  private readonly control: Int32Array;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly guard: ThreadGuard;
  private stopped = false;

  constructor(buffer: SharedArrayBuffer, control: Int32Array, guard: ThreadGuard) {
    this.guard = guard;
    this.ring = new Int32Array(buffer, 0, MissRing.RECORDS_BYTE >>> 2);
    this.control = control;
    this.bytes = new Uint8Array(buffer, MissRing.RECORDS_BYTE);
    this.view = new DataView(buffer, MissRing.RECORDS_BYTE);
  }

  /**
   * Calls `take` for every record until `stop`, even after errors; records in the ring at `stop` are still delivered.
   */
  async run(take: (miss: Miss) => void): Promise<void> {
    for (;;) {
      if (this.takePortion(take) === PORTION) {
        await setImmediate();
        continue;
      }
      if (this.stopped) return;
      await this.sleep();
    }
  }

  /** Ends `run` once the ring is empty. */
  stop(): void {
    this.stopped = true;
    Atomics.notify(this.ring, MissRing.HEAD_WORD);
  }

  private takePortion(take: (miss: Miss) => void): number {
    let taken = 0;
    const head = Atomics.load(this.ring, MissRing.HEAD_WORD);
    let tail = Atomics.load(this.ring, MissRing.TAIL_WORD);
    for (; tail !== head && taken < PORTION; taken++) {
      const miss = this.read((tail & (MissRing.CAPACITY - 1)) * MissRecord.SIZE);
      tail = (tail + 1) | 0;
      Atomics.store(this.ring, MissRing.TAIL_WORD, tail);
      try {
        take(miss);
      } catch (error) {
        this.guard.take(error);
      }
    }
    return taken;
  }

  private async sleep(): Promise<void> {
    const tail = Atomics.load(this.ring, MissRing.TAIL_WORD);
    Atomics.store(this.control, WorkerControl.RESOLVE_ASLEEP_WORD, 1);
    const wait = Atomics.waitAsync(this.ring, MissRing.HEAD_WORD, tail);
    if (wait.async) await wait.value;
    Atomics.store(this.control, WorkerControl.RESOLVE_ASLEEP_WORD, 0);
  }

  private read(at: number): Miss {
    const { bytes, view } = this;
    const length = view.getUint16(at + MissRecord.MESSAGE_LENGTH, true);
    const ecsAt = at + MissRecord.ECS;
    const cookieAt = at + MissRecord.COOKIE;
    const flags = bytes[at + MissRecord.FLAGS]!;
    const ecsLength = bytes[at + MissRecord.ECS_LENGTH]!;
    return {
      message: bytes.slice(at + MissRecord.MESSAGE, at + MissRecord.MESSAGE + length),
      client: bytes.slice(at + MissRecord.CLIENT, at + MissRecord.CLIENT + 16),
      arrivedMs: view.getFloat64(at + MissRecord.ARRIVED_MS, true),
      arrivedMonotonicMs: view.getFloat64(at + MissRecord.ARRIVED_MONOTONIC_MS, true),
      udpSize: view.getUint16(at + MissRecord.UDP_SIZE, true),
      dnssecOk: (flags & MissFlags.DNSSEC_OK) !== 0,
      ecs: ecsLength === 0 ? null : bytes.slice(ecsAt, ecsAt + ecsLength),
      cookie: (flags & MissFlags.COOKIE) === 0 ? null : bytes.slice(cookieAt, cookieAt + COOKIE_SIZE),
      hasValidCookie: (flags & MissFlags.VALID_COOKIE) !== 0,
      isRefresh: (flags & MissFlags.REFRESH) !== 0,
      isRateLimited: (flags & MissFlags.RATE_LIMITED) !== 0,
      firstTry: firstTryOf(flags),
      passedVersion: view.getInt32(at + MissRecord.PASSED_VERSION, true),
      origin: readOrigin(bytes, at, view.getInt32(at + MissRecord.SOCKET, true)),
    };
  }
}
