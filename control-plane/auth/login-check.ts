/**
 * Checks a user name and a password, and locks out who fails too often (`login-failure-store.ts`). Sessions are opened
 * elsewhere.
 */
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { tooMany, unauthorized } from '../api/api-error.ts';
import type { Database } from '../db/database.ts';
import type { Accounts, ProvenAccount } from './accounts/accounts.ts';
import { foldedName } from './accounts/user-name.ts';
import * as failures from './login-failure-store.ts';
import { LoginTurns } from './login-turns.ts';

/** The parts of the node that it needs. */
export interface LoginCheckParts {
  config(): Config;
  readonly accounts: Accounts;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Checks passwords, one after the other from each address. */
export class LoginCheck {
  private readonly parts: LoginCheckParts;
  private readonly turns = new LoginTurns();

  constructor(parts: LoginCheckParts) {
    this.parts = parts;
  }

  /** The account of a name and its password; 401 for wrong ones, which are counted, 429 while locked. */
  check(username: string, password: string, address: string): Promise<ProvenAccount> {
    // Spellings of one name count as one.
    const who = failures.loginSource(foldedName(username), address);
    return this.turns.run(who.address, () => this.checkInTurn(who, password, address));
  }

  /** Removes lockouts that have passed. */
  async removePassed(): Promise<void> {
    const { now, windowMs } = this.lockoutRule();
    await failures.deletePassedFailures(this.parts.database, new Date(now.getTime() - windowMs));
  }

  /** Counts decided attempts only: what was refused unheard, for load or without a database, is no failure. */
  private async checkInTurn(
    who: failures.LoginSource,
    password: string,
    address: string,
  ): Promise<ProvenAccount> {
    const { database, logger, accounts } = this.parts;
    const { username } = who;
    const waitMs = await failures.lockedForMs(database, who, this.lockoutRule());
    if (waitMs > 0) {
      logger.warn('refused a login: locked out', { username, address });
      throw tooMany('locked_out', 'too many failed logins; the login is locked', waitMs / 1000);
    }
    const account = await accounts.prove(username, password);
    if (account === null) {
      await failures.countFailure(database, who, this.lockoutRule());
      logger.warn('refused a login: wrong user name or password', { username, address });
      throw unauthorized('wrong user name or password');
    }
    await failures.clearFailures(database, who);
    return account;
  }

  private lockoutRule(): failures.LockoutRule {
    const { login_rate_limit_attempts: attempts, login_rate_limit_window_secs: windowSecs } =
      this.parts.config().auth;
    return { now: new Date(this.parts.clock.nowMs()), attempts, windowMs: windowSecs * 1000 };
  }
}
