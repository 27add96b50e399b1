/**
 * Sessions of one node: opens, finds and ends them, and notifies long-running responses. It handles neither passwords
 * (`login-check.ts`) nor HTTP.
 */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { Clock } from '../../../../shared/clock.ts';
import type { Logger } from '../../../../shared/log.ts';
import { notFound } from '../../../api/api-error.ts';
import type { Author, Caller } from '../../../api/caller.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import { ClockWatch } from '../../../host/clock/clock-watch.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import { SessionLookup } from './session-lookup.ts';
import { hashSessionSecret, newSessionSecret } from './session-secret.ts';
import * as store from './session-store.ts';
import type { SessionOwner, StoredSession } from './session-store.ts';

/** Maximum number of sessions that are extended by use: some clients open one for each request and never end it. */
export const MAX_IDLE_SESSIONS = 1000;

/** Address and browser of a login. */
export interface LoginOrigin {
  readonly address: string;
  readonly userAgent: string | null;
}

/** A session with the client's secret. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: StoredSession;
}

/** The session of a request. */
export interface CarriedSession extends OpenedSession {
  readonly caller: Caller;
}

/** Options of a new session. */
export interface WantedSession extends Pick<StoredSession, 'rememberMe' | 'idleSecs'> {
  readonly owner: SessionOwner;
  readonly lifeMs: number;
  /** Runs in the transaction that stores the session; throws if the owner may no longer log in. */
  readonly confirm: (tx: Queryable) => Promise<void>;
}

/** Dependencies of sessions. */
export interface SessionsParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the administrator. */
  readonly adminName: () => string;
}

/** Sessions of one node. Throws ApiError and DatabaseUnavailable. */
export class Sessions {
  private readonly parts: SessionsParts;
  private readonly lookup: SessionLookup;
  private readonly clockWatch: ClockWatch;
  private readonly endListeners = new Set<() => void>();

  constructor(parts: SessionsParts) {
    this.parts = parts;
    this.lookup = new SessionLookup(parts);
    this.clockWatch = new ClockWatch(parts.clock);
  }

  /** The first of these secrets with a valid session, and that session; null if there is none. */
  async of(secrets: readonly string[]): Promise<CarriedSession | null> {
    for (const secret of secrets) {
      const session = await this.lookup.find(hashSessionSecret(secret));
      if (session === null) continue;
      const { id: sessionId, role, userId, tokenId, clientIds } = session;
      const username = this.nameOf(session);
      return { secret, session, caller: { username, role, userId, tokenId, sessionId, clientIds } };
    }
    return null;
  }

  /** Name of the owner of a session. */
  nameOf({ username }: StoredSession): string {
    return username ?? this.parts.adminName();
  }

  /** Opens a session. */
  async open(wanted: WantedSession, origin: LoginOrigin): Promise<OpenedSession> {
    const { lifeMs, confirm, ...kept } = wanted;
    const createdAt = this.now();
    const secret = newSessionSecret();
    const secretHash = hashSessionSecret(secret);
    const opened = {
      ...kept,
      secretHash,
      ipAddress: origin.address,
      userAgent: origin.userAgent,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + lifeMs),
    };
    const session = await this.parts.database.transaction(async (tx) => {
      await confirm(tx);
      const stored = await store.insertSession(tx, opened);
      if (kept.idleSecs !== null) await store.deleteSurplusIdleSessions(tx, MAX_IDLE_SESSIONS);
      return stored;
    });
    this.lookup.memory.note(secretHash, session);
    this.parts.logger.info('opened a session', { username: this.nameOf(session), address: origin.address });
    return { secret, session };
  }

  /** Ends the session of a secret, if there is one. */
  async endOf(secret: string): Promise<void> {
    const secretHash = hashSessionSecret(secret);
    // Even if it is unknown whether the session was ended, remove the cached session; the same applies in the methods
    // below.
    await this.parts.database
      .transaction((tx) => store.deleteSessionByHash(tx, secretHash))
      .finally(() => {
        this.lookup.memory.note(secretHash, null);
        this.notifyEnd();
      });
  }

  /** Ends one session; 404 if it does not exist or `mayEnd` does not allow it. */
  async revoke(
    author: Author,
    id: number,
    mayEnd = (_session: StoredSession): boolean => true,
  ): Promise<void> {
    await this.parts.database
      .transaction(async (tx) => {
        const session = await store.lockSession(tx, id);
        if (session === null || !mayEnd(session)) throw notFound(`session ${id}`);
        await author.precondition?.(tx);
        await store.deleteSession(tx, id);
        const { role, ipAddress: address, userAgent } = session;
        const username = this.nameOf(session);
        await recordAudit(tx, {
          actor: author,
          subject: codedSubject('session', { name: username }),
          action: codedAction('revoked'),
          before: { id, username, role, address, user_agent: userAgent },
        });
      })
      .finally(() => this.remove((session) => session.id === id));
  }

  /** All sessions that have not expired, newest first. */
  list(): Promise<StoredSession[]> {
    return store.listSessions(this.parts.database, this.now());
  }

  /**
   * Deletes expired sessions, unless they may only look expired because of a wrong clock; returns false in that case.
   */
  async removeExpired(): Promise<boolean> {
    if (!this.clockWatch.isSettled()) return false;
    const removed = await store.deleteExpiredSessions(this.parts.database, this.now());
    if (removed > 0) this.parts.logger.debug('removed expired sessions', { sessions: removed });
    return true;
  }

  /** Removes cached sessions that were, or may have been, ended in a transaction. */
  remove(isEnded: (session: StoredSession) => boolean): void {
    this.lookup.memory.remove(isEnded);
    this.notifyEnd();
  }

  /** Sessions may have been ended on another node. */
  mayHaveEnded(): void {
    this.lookup.memory.requireLookup();
    this.notifyEnd();
  }

  /** Calls the listener whenever sessions ended or may have ended; returns a function that removes the listener. */
  onEnded(listener: () => void): () => void {
    this.endListeners.add(listener);
    return () => this.endListeners.delete(listener);
  }

  private notifyEnd(): void {
    for (const listener of this.endListeners) listener();
  }

  private now(): Date {
    return new Date(this.parts.clock.nowMs());
  }
}
