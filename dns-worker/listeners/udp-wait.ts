/**
 * How an answer thread waits. If it is busy with one socket, it blocks in recvmmsg (two system calls per wake-up). With
 * several sockets, or after a pause, it sleeps in poll with an eventfd through which the control plane wakes it. An
 * idle thread uses no CPU; a busy thread reads its messages within 4 ms.
 */
import { WorkerControl } from '../../shared/threads/messages.ts';
import { Errno, type NativeCalls } from './native-calls.ts';
import type { UdpSocket } from './udp-sockets.ts';

const POLLIN = 1;
/** Offsets in struct pollfd, i32 words: descriptor, then events and revents in one word. */
const POLLFD_WORDS = 2;
const EFD_NONBLOCK = 0o4000;
const EFD_CLOEXEC = 0o2000000;
/** Empty receives in a row before the thread sleeps in poll: about 100 ms. */
const EMPTY_ROUNDS_BEFORE_SLEEP = 25;
/** Maximum sleep, and therefore the maximum delay after a lost wake-up. */
const SLEEP_MS = 1000;

/** Datagrams after which the rate is measured again. */
const RATE_SAMPLE = 1024;
/** Below this rate nothing is coalesced: waiting would only add latency. */
const COALESCE_MIN_PER_SEC = 10_000;
/** A batch of this size needs no coalescing. */
const FULL_ENOUGH = 16;

/** Expected replies of servers: the thread waits for them and for queries at the same time. */
export interface AwaitedReplies {
  /** File descriptor that is readable when a reply has arrived. */
  readonly fd: number;
  /** Whether any reply is expected. */
  readonly isWaiting: boolean;
  /** Handles replies that have arrived or are overdue; returns the number of datagrams received. */
  turn(): number;
  /** Milliseconds until `turn` is due without a datagram; Infinity = not due. */
  untilNextMs(): number;
}

/** Waits on the sockets of one thread and its eventfd. */
export class UdpWait {
  private readonly calls: NativeCalls;
  private readonly control: Int32Array;
  private readonly sockets: readonly UdpSocket[];
  private readonly wakeFd: number;
  private readonly pollfds: Int32Array;
  private readonly pollfdsAddress: bigint;
  private replies: AwaitedReplies | null = null;
  private readonly eventBytes = new Uint8Array(new ArrayBuffer(8));
  private readonly eventAddress: bigint;

  /** Microseconds that a busy thread may wait for a fuller batch; 0 = never. */
  coalesceUs: number;
  private sampleStartMs = 0;
  private sampleCount = 0;
  private isBusy = false;

  constructor(calls: NativeCalls, control: Int32Array, sockets: readonly UdpSocket[], coalesceUs: number) {
    this.calls = calls;
    this.coalesceUs = coalesceUs;
    this.control = control;
    this.sockets = sockets;
    const noted = Atomics.load(control, WorkerControl.WAKE_FD_WORD);
    this.wakeFd = noted !== 0 ? noted : calls.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    Atomics.store(control, WorkerControl.WAKE_FD_WORD, this.wakeFd);
    this.pollfds = new Int32Array(new ArrayBuffer((sockets.length + 2) * POLLFD_WORDS * 4));
    this.pollfdsAddress = calls.address(this.pollfds);
    this.eventAddress = calls.address(this.eventBytes);
    [this.wakeFd, ...sockets.map((socket) => socket.fd)].forEach((fd, index) => {
      this.pollfds[index * POLLFD_WORDS] = fd;
      this.pollfds[index * POLLFD_WORDS + 1] = POLLIN;
    });
  }

  /** Makes the thread also wait for these replies. */
  follow(replies: AwaitedReplies): void {
    this.replies = replies;
    const at = (this.sockets.length + 1) * POLLFD_WORDS;
    this.pollfds[at] = replies.fd;
    this.pollfds[at + 1] = POLLIN;
  }

  /**
   * Calls `answerBatch` for sockets with datagrams and `readMessages` after messages, until `readMessages` returns
   * true; calls `whenIdle` before it sleeps.
   */
  forever(
    answerBatch: (socket: number, block: boolean) => number,
    readMessages: () => boolean,
    whenIdle: () => void,
  ): void {
    const single = this.sockets.length === 1;
    let messagesSeen = Atomics.load(this.control, WorkerControl.MESSAGES_WORD) - 1;
    let emptyRounds = 0;
    for (;;) {
      this.control[WorkerControl.ANSWER_BEAT_WORD] = (this.control[WorkerControl.ANSWER_BEAT_WORD]! + 1) | 0;
      const messages = Atomics.load(this.control, WorkerControl.MESSAGES_WORD);
      if (messages !== messagesSeen) {
        messagesSeen = messages;
        if (readMessages()) return;
      }
      const { replies } = this;
      const isWaiting = replies?.isWaiting === true;
      const mayBlock = single && !isWaiting;
      let count = 0;
      if (mayBlock && emptyRounds < EMPTY_ROUNDS_BEFORE_SLEEP) count = answerBatch(0, true);
      else for (let index = 0; index < this.sockets.length; index++) count += answerBatch(index, false);
      const replyCount = isWaiting ? replies.turn() : 0;
      emptyRounds = count + replyCount > 0 ? 0 : emptyRounds + 1;
      if (this.coalesceUs !== 0) this.coalesce(count);
      if (count + replyCount > 0 || (mayBlock && emptyRounds < EMPTY_ROUNDS_BEFORE_SLEEP)) continue;
      if (emptyRounds >= EMPTY_ROUNDS_BEFORE_SLEEP) whenIdle();
      this.sleep(messagesSeen);
    }
  }

  /** After a small batch at a high rate, waits for more datagrams before the next receive. */
  private coalesce(count: number): void {
    this.sampleCount += count;
    if (this.sampleCount >= RATE_SAMPLE || count === 0) {
      const nowMs = performance.now();
      this.isBusy = this.sampleCount * 1000 >= COALESCE_MIN_PER_SEC * (nowMs - this.sampleStartMs);
      this.sampleStartMs = nowMs;
      this.sampleCount = 0;
    }
    if (this.isBusy && count < FULL_ENOUGH) this.calls.usleep(this.coalesceUs);
  }

  /** Sleeps until a datagram or a wake-up arrives, a reply is overdue, or SLEEP_MS have passed. */
  private sleep(messagesSeen: number): void {
    Atomics.store(this.control, WorkerControl.ANSWER_ASLEEP_WORD, 1);
    // The control plane does not signal a message that arrived before the flag was set.
    if (Atomics.load(this.control, WorkerControl.MESSAGES_WORD) === messagesSeen) {
      const { replies } = this;
      const isWaiting = replies?.isWaiting === true;
      const descriptors = this.sockets.length + (isWaiting ? 2 : 1);
      const timeoutMs = isWaiting ? Math.min(SLEEP_MS, replies.untilNextMs()) : SLEEP_MS;
      const ready = this.calls.poll(this.pollfdsAddress, descriptors, timeoutMs);
      if (ready > 0 && this.pollfds[1]! >>> 16 !== 0) this.calls.read(this.wakeFd, this.eventAddress, 8);
      if (ready < 0 && this.calls.errno() !== Errno.EINTR)
        throw new Error(`could not poll: errno ${String(this.calls.errno())}`);
    }
    Atomics.store(this.control, WorkerControl.ANSWER_ASLEEP_WORD, 0);
  }
}
