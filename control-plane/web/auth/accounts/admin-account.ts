/**
 * The administrator: name and password hash. A hash in the configuration file takes precedence; without it, the row in
 * `admin_credential` applies, which setup creates and change-password or the CLI replaces.
 */
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { Config } from '../../../../config/schema.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { forbidden } from '../../../api/api-error.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import type { ConfiguredPassword } from './configured-password.ts';
import * as credentials from './credential-store.ts';
import { type PasswordHashing, PASSWORD_HASHING } from './password.ts';
import * as users from './user-store.ts';
import { ADMIN_USER_ID } from './user-store.ts';
import { refuseWeak } from './weak-password.ts';

/** Dependencies of the account. */
interface AdminAccountParts {
  config(): Config;
  readonly configured: ConfiguredPassword;
  readonly database: Database;
  readonly clock: Clock;
  readonly hashing?: PasswordHashing;
}

/** Name and password of the administrator. */
export class AdminAccount {
  private readonly parts: AdminAccountParts;
  private readonly hashing: PasswordHashing;
  /** A stored password is never removed, so a positive result is cached. */
  private isInDatabase = false;

  constructor(parts: AdminAccountParts) {
    this.parts = parts;
    this.hashing = parts.hashing ?? PASSWORD_HASHING;
  }

  /** User name of the administrator. */
  get username(): string {
    return this.parts.config().auth.admin.username;
  }

  /** Whether a password is set; throws DatabaseUnavailable if this depends on the database, which is unavailable. */
  async isConfigured(): Promise<boolean> {
    if (this.configuredHash() !== '') return true;
    this.isInDatabase ||= (await credentials.readHash(this.parts.database)) !== null;
    return this.isInDatabase;
  }

  /** Like `isConfigured`; while the database cannot be reached, returns `guess`. */
  async isProbablyConfigured(guess: () => Promise<boolean>): Promise<boolean> {
    try {
      return await this.isConfigured();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return guess();
      throw error;
    }
  }

  /** Sets the first password; 403 if one is set already, even by a concurrent request. */
  async setUp(password: string, address: string | null): Promise<void> {
    const taken = forbidden('password_set');
    if (await this.isConfigured()) throw taken;
    await refuseWeak(password, this.username, 'password');
    const hash = await this.hashing.hash(password);
    const { database } = this.parts;
    await database.transaction(async (tx) => {
      if (!(await credentials.insertHash(tx, hash, this.now()))) throw taken;
      const actor = { name: this.username, address };
      const subject = codedSubject('password', { name: this.username });
      await recordAudit(tx, { actor, subject, action: codedAction('set') });
    });
    this.isInDatabase = true;
  }

  /** The current hash; null before setup. */
  async hash(db: Queryable = this.parts.database): Promise<string | null> {
    const configured = this.configuredHash();
    return configured !== '' ? configured : credentials.readHash(db);
  }

  /**
   * Replaces the password where it is stored, in the configuration file or the database, and runs `alongside` in the
   * same transaction; 409 if the file cannot be changed.
   */
  async replacePassword(password: string, alongside: (tx: Queryable) => Promise<void>): Promise<void> {
    const { configured, database } = this.parts;
    const hash = await this.hashing.hash(password);
    await database.transaction(async (tx) => {
      // Waits for logins that were verified with the old password, and makes new logins wait.
      await users.updateUser(tx, ADMIN_USER_ID, {});
      await alongside(tx);
      // The file comes last, since the transaction cannot undo it.
      if (configured.hash === '') await credentials.replaceHash(tx, hash, this.now());
      else await configured.replace(hash);
    });
  }

  private configuredHash(): string {
    return this.parts.configured.hash;
  }

  private now(): Date {
    return new Date(this.parts.clock.nowMs());
  }
}
