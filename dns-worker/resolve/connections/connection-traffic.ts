/** Traffic of one connection that stays open; shows whether the connection still works. */
import type { Clock } from '../../../shared/clock.ts';

/** If a connection has delivered other answers, but nothing for this many milliseconds, an answer may be missing. */
const LEFT_OUT_MS = 200;

/** The state of a connection when a query was sent on it. */
export interface SentState {
  /** Monotonic time at which the query was sent. */
  sentMs: number;
  /** Messages received before the query was sent. */
  receivedBefore: number;
  /** Milliseconds between the last message and the query; 0 = no message. */
  idleMs: number;
}

/** Counts of one connection. */
export class ConnectionTraffic {
  readonly openedMs: number;
  sent = 0;
  received = 0;
  lastReceivedMs: number;
  /**
   * Whether a query on this connection was sent again because the connection was silent, and nothing has arrived since.
   */
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

  /** Whether nothing has arrived since a query was sent. */
  isSilentSince({ receivedBefore }: SentState): boolean {
    return this.received === receivedBefore;
  }

  /**
   * Whether the server may have dropped a query: nothing has arrived since the query was sent, or in the last
   * `LEFT_OUT_MS`.
   */
  mayLeaveOut(query: SentState): boolean {
    return this.isSilentSince(query) || this.clock.monotonicMs() - this.lastReceivedMs >= LEFT_OUT_MS;
  }
}
