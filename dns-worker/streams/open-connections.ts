/**
 * The open connections of one listener: closes idle connections, makes space by closing the connection that is idle for
 * the longest time, and ends all connections when the listener closes. A connection is idle while no complete message
 * is received or sent; partial messages do not count.
 */
import { STREAM_IDLE_MS } from '../query/stream-options.ts';

/** Maximum wait for answers in flight when closing. */
const CLOSE_GRACE_MS = 3000;
/**
 * Values for a takeover by another process: a connection is closed after a pause of PAUSE_MS, so that no query in
 * transit is lost, and after LINGER_MS even without a pause.
 */
const PAUSE_MS = 400;
export const LINGER_MS = 2500;
const POLL_MS = 50;
/** At the connection limit, a connection without a message for this time is closed to accept a new connection. */
const EVICT_IDLE_MS = 500;

/** A connection as seen by its listener. */
export interface OpenConnection {
  /** When the last complete message arrived or the last answer was sent, in monotonic milliseconds. */
  readonly lastActiveMs: number;
  /** Queries without an answer yet. */
  readonly inFlight: number;
  /** Reads no more queries, and closes after the queries in flight are answered. */
  finish(): void;
  /** Closes immediately. */
  destroy(): void;
  /** Signals, if the protocol allows it, that the client should use another connection; still serves this connection. */
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

  /** Closes the connection that is idle for the longest time, to accept a new one (RFC 7766 section 6.2.3). */
  makeRoom(): void {
    let oldest: OpenConnection | null = null;
    let oldestMs = performance.now() - EVICT_IDLE_MS;
    for (const connection of this.connections) {
      if (connection.inFlight > 0 || connection.lastActiveMs >= oldestMs) continue;
      oldest = connection;
      oldestMs = connection.lastActiveMs;
    }
    oldest?.destroy();
  }

  /**
   * Ends every connection after its queries in flight are answered, or after 3 s at the latest. With `lingers`,
   * connections in use stay open for a while.
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
    setInterval(() => this.finishPaused(startedMs), POLL_MS).unref();
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
