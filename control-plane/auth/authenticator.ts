/**
 * Authentication of one node: login, sessions, lockout and the administrator's password. It knows neither HTTP
 * (`http/auth-guard.ts`, `auth-routes.ts`) nor SQL (`*-store.ts`).
 */
import type { Caller } from '../api/caller.ts';
import type { Config } from '../../config/schema.ts';
import type { AuthStatus } from '../../shared/api/auth-api.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { type ApiError, notFound, setupCodeRequired, tooMany, unauthorized } from '../api/api-error.ts';
import { ClockWatch } from '../clock/clock-watch.ts';
import type { Database } from '../db/database.ts';
import { AdminAccount } from './admin-account.ts';
import type { ConfiguredPassword } from './configured-password.ts';
import * as failures from './login-failure-store.ts';
import { LoginTurns } from './login-turns.ts';
import type { SetupCode } from './setup-code.ts';
import { SessionLookup } from './session-lookup.ts';
import { hashSessionSecret, newSessionSecret } from './session-secret.ts';
import * as sessions from './session-store.ts';
import type { StoredSession } from './session-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Seconds that a session of the compatibility API lives after its last use, as its clients expect it. */
export const IDLE_SECS = 1800;
/** Such sessions at once: some clients open one for each question and end none. */
export const MOST_IDLE_SESSIONS = 1000;

/** Where a login comes from. */
export interface LoginOrigin {
  readonly address: string;
  readonly userAgent: string | null;
}

/** Who wants to set the first password. */
export interface SetupSender {
  /** The sender is on this machine, see `isOnThisMachine`. */
  readonly isLocal: boolean;
  readonly address: string;
  readonly setupCode: string | undefined;
}

/** What a login asks for. */
export interface LoginAttempt {
  readonly username: string;
  readonly password: string;
  readonly rememberMe: boolean;
}

/** A session with the secret that a client has for it. */
export interface OpenedSession {
  readonly secret: string;
  readonly session: StoredSession;
}

/** A session that a request carries. */
export interface CarriedSession extends OpenedSession {
  readonly caller: Caller;
}

/** How a new session is to live. */
interface WantedSession extends Pick<StoredSession, 'username' | 'rememberMe' | 'idleSecs'> {
  readonly lifeMs: number;
}

/** The parts of the node that authentication needs. */
export interface AuthenticatorParts {
  config(): Config;
  readonly configured: ConfiguredPassword;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly setupCode: SetupCode;
}

/** Login, sessions, lockout and password of one node. Throws ApiError and DatabaseUnavailable. */
export class Authenticator {
  private readonly parts: AuthenticatorParts;
  private readonly account: AdminAccount;
  private readonly lookup: SessionLookup;
  private readonly clockWatch: ClockWatch;
  private readonly turns = new LoginTurns();
  private readonly endListeners = new Set<() => void>();

  constructor(parts: AuthenticatorParts) {
    this.parts = parts;
    this.account = new AdminAccount(parts);
    this.lookup = new SessionLookup(parts);
    this.clockWatch = new ClockWatch(parts.clock);
  }

  /** Whether setup is needed; a guess while the database is unavailable. */
  async status(): Promise<AuthStatus> {
    const enabled = this.settings.enabled;
    const configured = await this.isProbablyConfigured();
    return { enabled, password_configured: configured, setup_required: enabled && !configured };
  }

  /** Sets the first password; 403 once there is one, and to remote senders without the setup code. */
  async setUp(password: string, sender: SetupSender): Promise<void> {
    const { setupCode, logger } = this.parts;
    const { isLocal, address, setupCode: given } = sender;
    if (!isLocal && !(await this.account.isConfigured())) {
      if (given === undefined || !(await setupCode.matches(given))) {
        logger.warn('refused a setup: no setup code, or a wrong one', { address });
        throw setupCodeRequired(given === undefined);
      }
    }
    await this.account.setUp(password);
    await setupCode.remove();
    logger.info('set the password of the administrator', { address });
  }

  /** The setup code until a password is set; then null, and removed from disk. */
  async pendingSetupCode(): Promise<string | null> {
    if (!(await this.account.isConfigured())) return this.parts.setupCode.value();
    await this.parts.setupCode.remove();
    return null;
  }

  /** The caller where authentication is off. */
  openCaller(): Caller | null {
    return this.settings.enabled ? null : { username: this.account.username, role: 'admin', sessionId: null };
  }

  /** The first of these secrets that has a living session, and that session; null where none has. */
  async sessionOf(secrets: readonly string[]): Promise<CarriedSession | null> {
    for (const secret of secrets) {
      const session = await this.lookup.find(hashSessionSecret(secret));
      if (session === null) continue;
      const { id: sessionId, username, role } = session;
      return { secret, session, caller: { username, role, sessionId } };
    }
    return null;
  }

  /** The 401 for a request without valid credentials. */
  async refusal(): Promise<ApiError> {
    if (await this.isProbablyConfigured()) return unauthorized('a session or an API token is needed');
    return unauthorized('set a password first: POST auth/setup, or `weir set-password`', 'setup_required');
  }

  /** Opens a session; 401 for wrong credentials, 429 while locked. */
  async logIn(attempt: LoginAttempt, origin: LoginOrigin): Promise<OpenedSession> {
    if (!(await this.account.isConfigured())) throw await this.refusal();
    const { username, password, rememberMe } = attempt;
    await this.checkPassword(username, password, origin);
    const { session_ttl_hours: hours, remember_me_days: days } = this.settings;
    const lifeMs = rememberMe ? days * DAY_MS : hours * HOUR_MS;
    return this.open({ username, rememberMe, lifeMs, idleSecs: null }, origin);
  }

  /** Opens a session for whoever has a password, which lives `IDLE_SECS` after each use; errors as `logIn`. */
  async logInByPassword(password: string, origin: LoginOrigin): Promise<OpenedSession> {
    if (!(await this.account.isConfigured())) throw await this.refusal();
    const { username } = this.account;
    await this.checkPassword(username, password, origin);
    return this.open({ username, rememberMe: false, lifeMs: IDLE_SECS * 1000, idleSecs: IDLE_SECS }, origin);
  }

  /** Calls back whenever sessions were ended on this node; returns how to stop that. */
  onSessionsEnded(listener: () => void): () => void {
    this.endListeners.add(listener);
    return () => this.endListeners.delete(listener);
  }

  /** Ends the session of a secret, if there is one. */
  async logOut(secret: string): Promise<void> {
    const secretHash = hashSessionSecret(secret);
    const { database } = this.parts;
    // Not believed either where it is unknown whether it was ended; the same below.
    await database
      .transaction((tx) => sessions.deleteSessionByHash(tx, secretHash))
      .finally(() => {
        this.lookup.memory.note(secretHash, null);
        this.tellEnd();
      });
  }

  /** Replaces the password and ends all other sessions; a wrong current one counts as a failed login. */
  async changePassword(
    caller: Caller,
    passwords: { current: string; next: string },
    origin: LoginOrigin,
  ): Promise<void> {
    if (!(await this.account.isConfigured())) throw await this.refusal();
    await this.checkPassword(caller.username, passwords.current, origin);
    const { username, sessionId } = caller;
    await this.account
      .replacePassword(passwords.next, (tx) => sessions.deleteSessionsOfUser(tx, username, sessionId))
      .finally(() => this.forget((session) => session.username === username && session.id !== sessionId));
    this.parts.logger.info('changed the password', { username });
  }

  /** All sessions that are not over, newest first. */
  async listSessions(): Promise<StoredSession[]> {
    return sessions.listSessions(this.parts.database, this.now());
  }

  /** Ends one session; 404 if there is none. */
  async revokeSession(id: number): Promise<void> {
    const isEnded = await this.parts.database
      .transaction((tx) => sessions.deleteSession(tx, id))
      .finally(() => this.forget((session) => session.id === id));
    if (!isEnded) throw notFound(`session ${id}`);
  }

  /** Removes sessions that are over and lockouts that have passed; for a timer. */
  async removeExpired(): Promise<void> {
    // A wrong clock would make all of them look expired.
    if (!this.clockWatch.isSettled()) return;
    const windowMs = this.settings.login_rate_limit_window_secs * 1000;
    const removed = await sessions.deleteExpiredSessions(this.parts.database, this.now());
    await failures.deletePassedFailures(this.parts.database, new Date(this.parts.clock.nowMs() - windowMs));
    if (removed > 0) this.parts.logger.debug('removed expired sessions', { sessions: removed });
  }

  /** Without the database: false if a setup code is pending. Only affects messages. */
  private isProbablyConfigured(): Promise<boolean> {
    return this.account.isProbablyConfigured(async () => !(await this.parts.setupCode.isPending()));
  }

  private checkPassword(username: string, password: string, origin: LoginOrigin): Promise<void> {
    const who = failures.loginSource(username, origin.address);
    return this.turns.run(who.address, () => this.checkInTurn(who, password, origin.address));
  }

  /** Counts decided attempts only: what was refused unheard, for load or without a database, is no failure. */
  private async checkInTurn(who: failures.LoginSource, password: string, address: string): Promise<void> {
    const { database, logger } = this.parts;
    const { username } = who;
    const waitMs = await failures.lockedForMs(database, who, this.lockoutRule());
    if (waitMs > 0) {
      logger.warn('refused a login: locked out', { username, address });
      throw tooMany('locked_out', 'too many failed logins; the login is locked', waitMs / 1000);
    }
    if (!(await this.account.matches(username, password))) {
      await failures.countFailure(database, who, this.lockoutRule());
      logger.warn('refused a login: wrong user name or password', { username, address });
      throw unauthorized('wrong user name or password');
    }
    await failures.clearFailures(database, who);
  }

  /** Sessions that were ended here, or may have been, are not believed in any more. */
  private forget(isEnded: (session: StoredSession) => boolean): void {
    this.lookup.memory.forget(isEnded);
    this.tellEnd();
  }

  private tellEnd(): void {
    for (const listener of this.endListeners) listener();
  }

  private lockoutRule(): failures.LockoutRule {
    const { login_rate_limit_attempts: attempts, login_rate_limit_window_secs: windowSecs } = this.settings;
    return { now: this.now(), attempts, windowMs: windowSecs * 1000 };
  }

  private async open(wanted: WantedSession, origin: LoginOrigin): Promise<OpenedSession> {
    const { lifeMs, ...kept } = wanted;
    const createdAt = this.now();
    const secret = newSessionSecret();
    const secretHash = hashSessionSecret(secret);
    const opened = {
      ...kept,
      secretHash,
      role: 'admin' as const,
      ipAddress: origin.address,
      userAgent: origin.userAgent,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + lifeMs),
    };
    const session = await this.parts.database.transaction(async (tx) => {
      const stored = await sessions.insertSession(tx, opened);
      if (kept.idleSecs !== null) await sessions.deleteSurplusIdleSessions(tx, MOST_IDLE_SESSIONS);
      return stored;
    });
    this.lookup.memory.note(secretHash, session);
    this.parts.logger.info('opened a session', { username: session.username, address: origin.address });
    return { secret, session };
  }

  private get settings(): Config['auth'] {
    return this.parts.config().auth;
  }

  private now(): Date {
    return new Date(this.parts.clock.nowMs());
  }
}
