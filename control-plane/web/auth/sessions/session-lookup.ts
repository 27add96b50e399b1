/**
 * Finds sessions by their secret's hash and says whether they are over: a fixed life does not follow steps of the wall
 * clock; a session with an idle time lives on with each use. While the database is away, sessions seen lately count.
 */
import type { Clock } from '../../../../shared/clock.ts';
import { STEP_MS } from '../../../host/clock/clock-watch.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Database } from '../../../storage/db/database.ts';
import { SessionMemory } from './session-memory.ts';
import * as sessions from './session-store.ts';
import type { StoredSession } from './session-store.ts';

/** Least time between two writes of a session's use. */
const SEEN_STEP_MS = 60_000;

/** The parts of the node that it needs. */
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

  /** The session, and that it was used now; null if it is over or never was. @throws {DatabaseUnavailable} */
  async find(secretHash: Buffer): Promise<StoredSession | null> {
    try {
      const session = await this.used(await this.living(secretHash));
      this.memory.note(secretHash, session);
      return session;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      const session = this.memory.recall(secretHash);
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

  /** A step of the wall clock does not change its lifetime. */
  private async livingFixed(secretHash: Buffer, session: StoredSession): Promise<StoredSession | null> {
    const { database, clock } = this.parts;
    const nowMs = clock.nowMs();
    const byClockMs = session.expiresAt.getTime() - nowMs;
    // A session with a start in the future begins now.
    const aheadMs = Math.max(0, session.createdAt.getTime() - nowMs);
    const leftMs = this.memory.lifeLeftMs(secretHash) ?? byClockMs - aheadMs;
    if (leftMs <= 0) return null;
    if (Math.abs(leftMs - byClockMs) <= STEP_MS) return session;
    return sessions.redateSession(database, session, new Date(nowMs), new Date(nowMs + leftMs));
  }

  /** Another node may have prolonged it, and this one's wall clock may have stepped: the longer life counts. */
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
