/**
 * Checks a user name, a password and the code of a second factor. Locks out callers that fail too often
 * (`login-failure-store.ts`), and slows down an account that is being guessed from many addresses. Sessions are opened
 * elsewhere.
 */
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { tooMany, unauthorized } from '../../api/api-error.ts';
import type { Database } from '../../storage/db/database.ts';
import type { Accounts, ProvenAccount } from './accounts/accounts.ts';
import { foldedName } from './accounts/user-name.ts';
import * as failures from './login-failure-store.ts';
import { LoginPace } from './login-pace.ts';
import { LoginTurns } from './login-turns.ts';
import { refusalOf } from './second-factor/second-factors.ts';
import type {
  CodeVerdict,
  FactorOwner,
  GivenCode,
  RightCode,
  SecondFactors,
} from './second-factor/second-factors.ts';

/** Limit of wrong codes of one user from all addresses together, as a multiple of the limit for one address. */
const CODES_OF_ALL = 10;

/** Dependencies of the check. */
export interface LoginCheckParts {
  config(): Config;
  readonly accounts: Accounts;
  readonly secondFactors: Pick<SecondFactors, 'check'>;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Credentials of a login. */
export interface ShownLogin {
  readonly username: string;
  readonly password: string;
  /** Null if none was given. */
  readonly code: GivenCode | null;
}

/** A user who may log in, and the code that the login consumes; null = no code is required. */
export interface ProvenLogin {
  readonly account: ProvenAccount;
  readonly code: RightCode | null;
}

/** Checks logins, one at a time for each address. */
export class LoginCheck {
  private readonly parts: LoginCheckParts;
  private readonly turns = new LoginTurns();
  private readonly pace: LoginPace;

  constructor(parts: LoginCheckParts) {
    this.parts = parts;
    this.pace = new LoginPace(parts.clock, () => this.lockoutRule().windowMs);
  }

  /**
   * The account with this name, password and second factor; 401 for wrong credentials, which are counted; 429 while
   * locked.
   */
  check({ username, password, code }: ShownLogin, address: string): Promise<ProvenLogin> {
    return this.inTurn(username, address, async (who) => {
      const account = await this.prove(who, password, address);
      const { userId } = account;
      const right = await this.proveCode(who, address, () => this.parts.secondFactors.check(userId, code));
      return { account, code: right };
    });
  }

  /** The account with this name and password only; errors as `check`. */
  checkPassword(username: string, password: string, address: string): Promise<ProvenAccount> {
    return this.inTurn(username, address, (who) => this.prove(who, password, address));
  }

  /** Checks the code of a user who is logged in; errors as `check`. */
  checkCode(
    { username }: FactorOwner,
    address: string,
    check: () => Promise<CodeVerdict>,
  ): Promise<RightCode | null> {
    return this.inTurn(username, address, (who) => this.proveCode(who, address, check));
  }

  /** Removes expired lockouts. */
  async removePassed(): Promise<void> {
    const { now, windowMs } = this.lockoutRule();
    await failures.deletePassedFailures(this.parts.database, new Date(now.getTime() - windowMs));
  }

  /** Only counts attempts that were checked: a refusal because of load or an unavailable database is not a failure. */
  private async inTurn<T>(
    username: string,
    address: string,
    attempt: (who: failures.LoginSource) => Promise<T>,
  ): Promise<T> {
    // All spellings of a name count as the same name.
    const who = failures.loginSource(foldedName(username), address);
    const delayMs = this.pace.lockedDelayMs(who.username, who.address);
    if (delayMs > 0) await setTimeout(delayMs);
    return this.turns.run(who.address, async () => {
      await this.refuseLocked(who, this.lockoutRule(), address);
      const result = await attempt(who);
      await failures.clearFailures(this.parts.database, who);
      return result;
    });
  }

  private async prove(who: failures.LoginSource, password: string, address: string): Promise<ProvenAccount> {
    const { database, logger, accounts } = this.parts;
    const end = this.pace.begin(who.address);
    const delayMs = this.pace.delayMs(who.username, who.address);
    if (delayMs > 0) await setTimeout(delayMs);
    const account = await accounts.prove(who.username, password, this.pace.rankOf(who.address)).finally(end);
    if (account !== null) {
      this.pace.noteSuccess(who.address);
      return account;
    }
    this.pace.noteFailure(who.username, who.address);
    await failures.countFailure(database, who, this.lockoutRule());
    logger.warn('refused a login: wrong user name or password', { username: who.username, address });
    throw unauthorized('wrong user name or password');
  }

  /** A missing code counts neither as a failure nor as a success: the count of failures does not change. */
  private async proveCode(
    who: failures.LoginSource,
    address: string,
    check: () => Promise<CodeVerdict>,
  ): Promise<RightCode | null> {
    const { database, logger } = this.parts;
    const { username } = who;
    const everywhere = failures.codeSource(username);
    const rule = this.lockoutRule();
    const ruleOfAll = { ...rule, attempts: rule.attempts * CODES_OF_ALL };
    const verdict = await check();
    if (verdict === null) return null;
    if (verdict === 'missing') throw refusalOf(verdict);
    await this.refuseLocked(everywhere, ruleOfAll, address);
    if (verdict === 'wrong' || verdict === 'used') {
      await failures.countFailure(database, who, rule);
      await failures.countFailure(database, everywhere, ruleOfAll);
      logger.warn('refused a login: wrong code of the second factor', { username, address });
      throw refusalOf(verdict);
    }
    await failures.clearFailures(database, everywhere);
    return verdict;
  }

  private async refuseLocked(
    who: failures.LoginSource,
    rule: failures.LockoutRule,
    address: string,
  ): Promise<void> {
    const waitMs = await failures.lockedForMs(this.parts.database, who, rule);
    if (waitMs <= 0) return;
    this.pace.noteLocked(who.username, who.address);
    this.parts.logger.warn('refused a login: locked out', { username: who.username, address });
    throw tooMany('locked_out', 'too many failed logins; the login is locked', waitMs / 1000);
  }

  private lockoutRule(): failures.LockoutRule {
    const { login_rate_limit_attempts: attempts, login_rate_limit_window_secs: windowSecs } =
      this.parts.config().auth;
    return { now: new Date(this.parts.clock.nowMs()), attempts, windowMs: windowSecs * 1000 };
  }
}
