/**
 * Authentication of one node: identifies the sender of a request, and handles login, setup and changes of the password.
 * This file contains neither HTTP (`web/server/auth-guard.ts`, `auth-routes.ts`) nor SQL (`*-store.ts`).
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { Caller } from '../../api/caller.ts';
import type { Config } from '../../../config/schema.ts';
import type { AuthStatus } from '../../../shared/api/auth-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { type ApiError, forbidden, setupCodeRequired, unauthorized } from '../../api/api-error.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { Accounts } from './accounts/accounts.ts';
import type { PasswordHashing } from './accounts/password.ts';
import { AdminAccount } from './accounts/admin-account.ts';
import type { ConfiguredPassword } from './accounts/configured-password.ts';
import { ADMIN_USER_ID } from './accounts/user-store.ts';
import { Users } from './accounts/users.ts';
import { refuseWeak } from './accounts/weak-password.ts';
import { LoginCheck } from './login-check.ts';
import { OidcLogin } from './oidc-login.ts';
import { OwnSecondFactor } from './own-second-factor.ts';
import { type GivenCode, SecondFactors } from './second-factor/second-factors.ts';
import { deleteSessionsOfUser } from './sessions/session-store.ts';
import type { StoredSession } from './sessions/session-store.ts';
import { type LoginOrigin, type OpenedSession, Sessions } from './sessions/sessions.ts';
import type { SetupCode } from './setup-code.ts';
import { ApiTokens } from './tokens/api-tokens.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Lifetime in seconds of a session of the compatibility API after its last use, as its clients expect. */
export const IDLE_SECS = 1800;
/** Lifetime of a session of the compatibility API. */
const IDLE = { rememberMe: false, lifeMs: IDLE_SECS * 1000, idleSecs: IDLE_SECS } as const;

/** Sender of the first password. */
export interface SetupSender {
  /** Whether the sender is on this machine, see `isOnThisMachine`. */
  readonly isLocal: boolean;
  readonly address: string;
  readonly setupCode: string | undefined;
}

/** Input of a login. */
export interface LoginAttempt {
  readonly username: string;
  readonly password: string;
  /** Code of the second factor; null if none was given. */
  readonly code: GivenCode | null;
  readonly rememberMe: boolean;
}

/** Credentials in a request. */
export interface Credentials {
  /** Secrets of sessions, in order of precedence. */
  readonly secrets: readonly string[];
  /** Key of an API token. */
  readonly key: string | null;
}

/** Dependencies of authentication. */
export interface AuthenticatorParts {
  config(): Config;
  readonly configured: ConfiguredPassword;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly setupCode: SetupCode;
  /** By default the hashing of a node. */
  readonly hashing?: PasswordHashing;
}

/** Handles login and setup, and identifies callers, for one node. Throws ApiError and DatabaseUnavailable. */
export class Authenticator {
  readonly sessions: Sessions;
  readonly tokens: ApiTokens;
  readonly users: Users;
  readonly ownSecondFactor: OwnSecondFactor;
  readonly oidc: OidcLogin;
  private readonly parts: AuthenticatorParts;
  private readonly secondFactors: SecondFactors;
  private readonly account: AdminAccount;
  private readonly accounts: Accounts;
  private readonly login: LoginCheck;
  private adminHasFactor = false;

  constructor(parts: AuthenticatorParts) {
    this.parts = parts;
    this.account = new AdminAccount(parts);
    this.accounts = new Accounts(this.account, parts.database, parts.hashing);
    const adminName = (): string => this.account.username;
    this.sessions = new Sessions({ ...parts, adminName });
    const { sessions, accounts } = this;
    const secondFactors = (this.secondFactors = new SecondFactors(parts));
    const login = new LoginCheck({ ...parts, config: () => parts.config(), accounts, secondFactors });
    this.login = login;
    this.tokens = new ApiTokens({ ...parts, sessions });
    this.users = new Users({ ...parts, sessions, secondFactors, adminName });
    const requireSetup = (): Promise<void> => this.requireSetup();
    const lifeMs = (rememberMe: boolean): number => this.lifeMs(rememberMe);
    const config = (): Config => parts.config();
    this.oidc = new OidcLogin({ ...parts, config, sessions, adminName, lifeMs, requireSetup });
    this.ownSecondFactor = new OwnSecondFactor({
      ...parts,
      accounts,
      login,
      secondFactors,
      sessions,
      requireSetup,
    });
  }

  /** Whether setup is needed; null if this depends on the database, which is unavailable. */
  async status(): Promise<Omit<AuthStatus, 'session' | 'setup_code_file'>> {
    const enabled = this.settings.enabled;
    const configured = await this.account.isConfigured().catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) return null;
      throw error;
    });
    const required = configured === null ? null : !configured;
    return { enabled, password_configured: configured, setup_required: enabled ? required : false };
  }

  /** The session of these secrets; null if none is valid, authentication is disabled, or the lookup fails. */
  async sessionIfKnown(secrets: readonly string[]): Promise<StoredSession | null> {
    if (!this.settings.enabled) return null;
    try {
      return (await this.sessions.of(secrets))?.session ?? null;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return null;
      throw error;
    }
  }

  /** Sets the first password; 403 if there is one, and for remote senders without the setup code. */
  async setUp(password: string, sender: SetupSender): Promise<void> {
    const { setupCode, logger } = this.parts;
    const { isLocal, address, setupCode: given } = sender;
    if (!isLocal && !(await this.account.isConfigured())) {
      if (given === undefined || !(await setupCode.matches(given))) {
        logger.warn('refused a setup: no setup code, or a wrong one', { address });
        throw setupCodeRequired(given === undefined);
      }
    }
    await this.account.setUp(password, address);
    await setupCode.remove();
    logger.info('the administrator password was set', { address });
  }

  /** User name of the administrator. */
  get adminName(): string {
    return this.account.username;
  }

  /** Path of the setup code. */
  get setupCodeFile(): string {
    return this.parts.setupCode.path;
  }

  /** The setup code until a password is set; then null, and deleted from disk. */
  async pendingSetupCode(): Promise<string | null> {
    if (!(await this.account.isConfigured())) return this.parts.setupCode.value();
    await this.parts.setupCode.remove();
    return null;
  }

  /** The caller if authentication is disabled. */
  openCaller(): Caller | null {
    if (this.settings.enabled) return null;
    const { username } = this.account;
    return {
      username,
      role: 'admin',
      userId: ADMIN_USER_ID,
      tokenId: null,
      sessionId: null,
      clientIds: null,
    };
  }

  /**
   * The caller with these credentials; null for unknown credentials. A session or a token suffices: with both, the
   * session is used unless the token has more rights. Throws DatabaseUnavailable if the session cannot be looked up and
   * no token is valid, or if the token cannot be looked up.
   */
  async callerOf({ secrets, key }: Credentials): Promise<Caller | null> {
    const bySession = this.sessions.of(secrets).then((session) => session?.caller ?? null);
    if (key === null) return bySession;
    const session = await bySession.catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) return error;
      throw error;
    });
    const isUnknown = session instanceof DatabaseUnavailable;
    if (!isUnknown && session?.role === 'admin') return session;
    const token = await this.tokens.callerOf(key);
    if (token === null && isUnknown) throw session;
    return token?.role === 'admin' || isUnknown ? token : (session ?? token);
  }

  /** The 401 for a request without valid credentials. */
  async refusal(): Promise<ApiError> {
    if (await this.isProbablyConfigured()) return unauthorized('a session or an API token is required');
    return unauthorized('set a password first: POST auth/setup, or `weir set-password`', 'setup_required');
  }

  /** Opens a session; 401 for wrong credentials, 429 while locked. */
  async logIn(attempt: LoginAttempt, origin: LoginOrigin): Promise<OpenedSession> {
    const { rememberMe } = attempt;
    return this.open(attempt, { rememberMe, lifeMs: this.lifeMs(rememberMe), idleSecs: null }, origin);
  }

  /**
   * Opens a session that expires `IDLE_SECS` after its last use, for the administrator's password (with a code, if
   * required) or the key of an API token; errors as `logIn`.
   */
  async logInByPassword(
    password: string,
    code: GivenCode | null,
    origin: LoginOrigin,
  ): Promise<OpenedSession> {
    const token = await this.tokens.callerOf(password);
    if (token === null) return this.open({ username: this.account.username, password, code }, IDLE, origin);
    const tokenId = token.tokenId!;
    const confirm = this.tokens.confirmed(password);
    return this.sessions.open({ ...IDLE, owner: { userId: null, tokenId }, confirm }, origin);
  }

  /** Replaces the caller's password and ends all other sessions; a wrong current password counts as a failed login. */
  async changePassword(
    caller: Caller,
    passwords: { current: string; next: string },
    origin: LoginOrigin,
  ): Promise<void> {
    const { username, userId, sessionId } = caller;
    if (userId === null) throw forbidden('token_without_password');
    await this.requireSetup();
    const proven = await this.login.checkPassword(username, passwords.current, origin.address);
    if (proven.userId !== userId) throw unauthorized('wrong user name or password');
    await refuseWeak(passwords.next, username, 'new_password');
    await this.accounts
      .replacePassword(userId, passwords.next, async (tx) => {
        await deleteSessionsOfUser(tx, userId, sessionId);
        const actor = { name: username, address: origin.address };
        const subject = codedSubject('password', { name: username });
        await recordAudit(tx, { actor, subject, action: codedAction('changed') });
      })
      .finally(() => this.sessions.remove(({ id, userId: of }) => of === userId && id !== sessionId));
    this.parts.logger.info('changed the password', { username });
  }

  /** Whether logins of the administrator need a code; the last known state while the database is unavailable. */
  async asksAdminForCode(): Promise<boolean> {
    try {
      this.adminHasFactor = (await this.secondFactors.stateOf(ADMIN_USER_ID)).isOn;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
    return this.adminHasFactor;
  }

  /** Clears the caches after users and tokens were changed by other means. */
  clearCallers(): void {
    this.sessions.remove(() => true);
    this.tokens.clearAll();
  }

  /** Another node may have ended a session, or changed a token or a user. */
  rightsMayHaveEnded(): void {
    this.sessions.mayHaveEnded();
    this.tokens.mayHaveChanged();
  }

  /** Removes expired sessions and lockouts; for a timer. */
  async removeExpired(): Promise<void> {
    if (await this.sessions.removeExpired()) await this.login.removePassed();
  }

  /** Without the database: false if a setup code is pending. The result only affects messages. */
  private isProbablyConfigured(): Promise<boolean> {
    return this.account.isProbablyConfigured(async () => !(await this.parts.setupCode.isPending()));
  }

  private async open(
    shown: Omit<LoginAttempt, 'rememberMe'>,
    life: { rememberMe: boolean; lifeMs: number; idleSecs: number | null },
    origin: LoginOrigin,
  ): Promise<OpenedSession> {
    await this.requireSetup();
    const { account, code } = await this.login.check(shown, origin.address);
    const owner = { userId: account.userId, tokenId: null };
    const confirm = async (tx: Queryable): Promise<void> => {
      await this.accounts.confirm(tx, account);
      await this.secondFactors.take(tx, account, code, origin.address);
    };
    return this.sessions.open({ ...life, owner, confirm }, origin);
  }

  private lifeMs(rememberMe: boolean): number {
    const { session_ttl_hours: hours, remember_me_days: days } = this.settings;
    return rememberMe ? days * DAY_MS : hours * HOUR_MS;
  }

  private async requireSetup(): Promise<void> {
    if (!(await this.account.isConfigured())) throw await this.refusal();
  }

  private get settings(): Config['auth'] {
    return this.parts.config().auth;
  }
}
