/**
 * Finds sessions by the hash of their secret and determines whether they have expired: a fixed lifetime is not affected
 * by changes of the wall clock; a session with an idle time is extended by each use. While the database is unavailable,
 * recently seen sessions are accepted.
 */
import type { Clock } from '../../../../shared/clock.ts';
import { STEP_MS } from '../../../host/clock/clock-watch.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Database } from '../../../storage/db/database.ts';
import { SessionMemory } from './session-memory.ts';
import * as sessions from './session-store.ts';
import type { StoredSession } from './session-store.ts';

/** Minimum time between two writes of a session's use. */
const SEEN_STEP_MS = 60_000;

/** Dependencies of the lookup. */
interface SessionLookupParts {
  readonly database: Database;
  readonly clock: Clock;
}

/** Sessions of one node, in the database or in memory. */
export class SessionLookup {
  readonly memory: SessionMemory;
  private readonly parts: SessionLookupParts;

  constructor(parts: SessionLookupParts) {
    this.parts = parts;
    this.memory = new SessionMemory(parts.clock);
  }

  /** Finds a session and records its use; null if it has expired or never existed. @throws {DatabaseUnavailable} */
  async find(secretHash: Buffer): Promise<StoredSession | null> {
    try {
      const session = await this.used(await this.living(secretHash));
      this.memory.note(secretHash, session);
      return session;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      const session = this.memory.find(secretHash);
      if (session === null) throw error;
      return session;
    }
  }

  private async living(secretHash: Buffer): Promise<StoredSession | null> {
    const session = await sessions.findSession(this.parts.database, secretHash);
    if (session === null) return null;
    return session.idleSecs === null
      ? this.livingFixed(secretHash, session)
      : this.livingIdle(secretHash, session);
  }

  /** A change of the wall clock does not affect the lifetime of the session. */
  private async livingFixed(secretHash: Buffer, session: StoredSession): Promise<StoredSession | null> {
    const { database, clock } = this.parts;
    const nowMs = clock.nowMs();
    const byClockMs = session.expiresAt.getTime() - nowMs;
    // If the start of a session is in the future, the session is treated as if it started now.
    const aheadMs = Math.max(0, session.createdAt.getTime() - nowMs);
    const leftMs = this.memory.lifeLeftMs(secretHash) ?? byClockMs - aheadMs;
    if (leftMs <= 0) return null;
    if (Math.abs(leftMs - byClockMs) <= STEP_MS) return session;
    return sessions.redateSession(database, session, new Date(nowMs), new Date(nowMs + leftMs));
  }

  /**
   * Another node may have extended the session, and the wall clock of this node may have been changed: the longer
   * lifetime applies.
   */
  private livingIdle(secretHash: Buffer, session: StoredSession): StoredSession | null {
    const byClockMs = session.expiresAt.getTime() - this.parts.clock.nowMs();
    return Math.max(this.memory.lifeLeftMs(secretHash) ?? 0, byClockMs) > 0 ? session : null;
  }

  private async used(session: StoredSession | null): Promise<StoredSession | null> {
    if (session === null) return null;
    const { database, clock } = this.parts;
    const nowMs = clock.nowMs();
    const { id, idleSecs } = session;
    if (idleSecs !== null) {
      const expiresMs = nowMs + idleSecs * 1000;
      if (Math.abs(expiresMs - session.expiresAt.getTime()) < SEEN_STEP_MS) return session;
      return sessions.prolongSession(database, session, new Date(nowMs), new Date(expiresMs));
    }
    if (nowMs - session.lastSeenAt.getTime() >= SEEN_STEP_MS)
      await sessions.touchSession(database, id, new Date(nowMs));
    return session;
  }
}
