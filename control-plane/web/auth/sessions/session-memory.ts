/**
 * Sessions that this node has recently read from the database. Used only while the database is unavailable, so that
 * users with a session can still use what the API serves from memory.
 */
import { elapsedMs } from '../../../../shared/clock.ts';
import type { Clock } from '../../../../shared/clock.ts';
import type { StoredSession } from './session-store.ts';

/**
 * How long a session is trusted after its last lookup: limits the delay if the notification of a revocation is lost.
 */
const CACHE_MS = 10 * 60_000;
const MAX_SESSIONS = 1000;

interface Remembered {
  readonly session: StoredSession;
  /** Time on the clock that also runs while the machine is suspended, like `aliveUntilMs`. */
  seenMs: number;
  /**
   * End of the session. Without an idle time, it is computed when this node first saw the session, so that changes of
   * the wall clock do not affect it.
   */
  readonly aliveUntilMs: number;
}

/** Caches sessions by the hash of their secret. */
export class SessionMemory {
  private readonly clock: Clock;
  private readonly byHash = new Map<string, Remembered>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Records the result of a lookup in the database: the session, or that there is none. */
  note(secretHash: Buffer, session: StoredSession | null): void {
    const key = secretHash.toString('base64');
    const before = this.byHash.get(key);
    this.byHash.delete(key);
    if (session === null) return;
    const seenMs = elapsedMs(this.clock);
    const byClockMs = seenMs + session.expiresAt.getTime() - this.clock.nowMs();
    const aliveUntilMs = session.idleSecs === null ? (before?.aliveUntilMs ?? byClockMs) : byClockMs;
    this.byHash.set(key, { session, seenMs, aliveUntilMs });
    if (this.byHash.size > MAX_SESSIONS) this.byHash.delete(this.byHash.keys().next().value!);
  }

  /** Remaining milliseconds of a session, independent of the wall clock since it was first seen; null = unknown. */
  lifeLeftMs(secretHash: Buffer): number | null {
    const remembered = this.byHash.get(secretHash.toString('base64'));
    return remembered === undefined ? null : remembered.aliveUntilMs - elapsedMs(this.clock);
  }

  /** The session as last seen, unless the last lookup was too long ago or the session has expired since. */
  find(secretHash: Buffer): StoredSession | null {
    const remembered = this.byHash.get(secretHash.toString('base64'));
    if (remembered === undefined) return null;
    const nowMs = elapsedMs(this.clock);
    const isFresh = nowMs - remembered.seenMs <= CACHE_MS && remembered.aliveUntilMs > nowMs;
    return isFresh ? remembered.session : null;
  }

  /** Called when sessions may have been revoked elsewhere: each must be confirmed by the database again. */
  requireLookup(): void {
    for (const remembered of this.byHash.values()) remembered.seenMs = -Infinity;
  }

  /** Removes sessions that were revoked on this node. */
  remove(isRevoked: (session: StoredSession) => boolean): void {
    for (const [key, { session }] of this.byHash) if (isRevoked(session)) this.byHash.delete(key);
  }
}
