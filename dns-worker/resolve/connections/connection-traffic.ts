/** Traffic of one kept connection, by which its state is judged. */
import type { Clock } from '../../../shared/clock.ts';

/** A connection that has brought other answers, but nothing for so many milliseconds, may not bring this one. */
const LEFT_OUT_MS = 200;

/** The state of a connection when a question was sent on it. */
export interface SentState {
  /** Time at which the question was sent, on the monotonic clock. */
  sentMs: number;
  /** Messages that had come before. */
  receivedBefore: number;
  /** Milliseconds since the last message; 0 = none had come. */
  idleMs: number;
}

/** Counts of one connection. */
export class ConnectionTraffic {
  readonly openedMs: number;
  sent = 0;
  received = 0;
  lastReceivedMs: number;
  /** A question on it was asked again for its silence; nothing has come since. */
  isSuspect = false;
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.openedMs = clock.monotonicMs();
    this.lastReceivedMs = this.openedMs;
  }

  noteSent(query: SentState): void {
    const nowMs = this.clock.monotonicMs();
    query.sentMs = nowMs;
    query.receivedBefore = this.received;
    query.idleMs = this.received === 0 ? 0 : nowMs - this.lastReceivedMs;
    this.sent++;
  }

  noteReceived(): void {
    this.received++;
    this.lastReceivedMs = this.clock.monotonicMs();
    this.isSuspect = false;
  }

  /** Whether nothing has come since a question was sent. */
  isSilentSince({ receivedBefore }: SentState): boolean {
    return this.received === receivedBefore;
  }

  /** Whether the server may have left out a question: nothing has come since it was sent, or no longer comes. */
  mayLeaveOut(query: SentState): boolean {
    return this.isSilentSince(query) || this.clock.monotonicMs() - this.lastReceivedMs >= LEFT_OUT_MS;
  }
}
