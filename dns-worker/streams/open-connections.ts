/**
 * The open connections of one listener: closes those that idle, makes room by closing the longest idle one, and ends
 * all of them when the listener closes. A connection is idle without a whole message in or out: bytes that trickle in
 * do not count.
 */
import { STREAM_IDLE_MS } from '../query/stream-options.ts';

/** Longest wait, when closing, for answers in flight. */
const CLOSE_GRACE_MS = 3000;
/**
 * While another process takes over: a connection that has paused for this long is closed, so that no query is lost on
 * its way; and the longest that one without a pause may stay open.
 */
const PAUSE_MS = 400;
export const LINGER_MS = 2500;
const LOOK_MS = 50;
/** At the connection limit, one that had no message for this long is closed for a new one. */
const ROOM_IDLE_MS = 500;

/** A connection as far as its listener looks after it. */
export interface OpenConnection {
  /** When the last whole message arrived or the last answer left, milliseconds of the monotonic clock. */
  readonly lastActiveMs: number;
  /** Queries without an answer yet. */
  readonly inFlight: number;
  /** Reads no more queries and closes as soon as those in flight are answered. */
  finish(): void;
  /** Closes at once. */
  destroy(): void;
  /** Asks the client to use another connection, if its protocol can; this one is still served. */
  retire?(): void;
}

/** The connections of one listener. */
export class OpenConnections {
  private readonly connections = new Set<OpenConnection>();
  private readonly idleTimeoutMs: number;
  private readonly sweeping: NodeJS.Timeout;
  private isLingering = false;

  constructor(idleTimeoutMs = STREAM_IDLE_MS) {
    this.idleTimeoutMs = idleTimeoutMs;
    // One timer for all connections.
    this.sweeping = setInterval(() => this.sweep(), Math.min(1000, idleTimeoutMs / 4));
    this.sweeping.unref();
  }

  add(connection: OpenConnection): void {
    this.connections.add(connection);
    if (this.isLingering) connection.retire?.();
  }

  delete(connection: OpenConnection): void {
    this.connections.delete(connection);
  }

  /** Closes the connection that has idled longest, so that another may come (RFC 7766 section 6.2.3). */
  makeRoom(): void {
    let oldest: OpenConnection | null = null;
    let oldestMs = performance.now() - ROOM_IDLE_MS;
    for (const connection of this.connections) {
      if (connection.inFlight > 0 || connection.lastActiveMs >= oldestMs) continue;
      oldest = connection;
      oldestMs = connection.lastActiveMs;
    }
    oldest?.destroy();
  }

  /**
   * Ends every connection once its queries in flight are answered, after 3 s in any case. With `lingers`, connections
   * in use stay open for a while.
   */
  close(lingers = false): void {
    clearInterval(this.sweeping);
    this.isLingering = lingers;
    if (lingers) this.linger();
    else for (const connection of this.connections) connection.finish();
    const grace = setTimeout(() => {
      for (const connection of this.connections) connection.destroy();
    }, CLOSE_GRACE_MS);
    grace.unref();
  }

  private linger(): void {
    const startedMs = performance.now();
    for (const connection of this.connections) connection.retire?.();
    setInterval(() => this.finishPaused(startedMs), LOOK_MS).unref();
  }

  private finishPaused(startedMs: number): void {
    const nowMs = performance.now();
    for (const connection of this.connections)
      if (nowMs - connection.lastActiveMs > PAUSE_MS || nowMs - startedMs > LINGER_MS) connection.finish();
  }

  private sweep(): void {
    const oldestMs = performance.now() - this.idleTimeoutMs;
    for (const connection of this.connections) {
      if (connection.lastActiveMs < oldestMs) connection.destroy();
    }
  }
}
