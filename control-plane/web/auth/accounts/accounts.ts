/** Accounts that log in with a password: the administrator (`admin-account.ts`) and the users of the database. */
import { unauthorized } from '../../../api/api-error.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import type { AdminAccount } from './admin-account.ts';
import { type PasswordHashing, PASSWORD_HASHING, verifyPassword } from './password.ts';
import { foldedName } from './user-name.ts';
import * as users from './user-store.ts';
import { ADMIN_USER_ID } from './user-store.ts';

/** A user who has just entered the correct password. */
export interface ProvenAccount {
  readonly userId: number;
  readonly username: string;
  /** The hash that matched the password. */
  readonly hash: string;
}

/** The accounts of one cluster. */
export class Accounts {
  readonly admin: AdminAccount;
  private readonly database: Database;
  private readonly hashing: PasswordHashing;

  constructor(admin: AdminAccount, database: Database, hashing = PASSWORD_HASHING) {
    this.admin = admin;
    this.database = database;
    this.hashing = hashing;
  }

  /**
   * The account with this name and password; null if they do not match. Takes as long as one hash, even if the name
   * does not exist.
   */
  async prove(username: string, password: string, rank = 0): Promise<ProvenAccount | null> {
    const account = await this.named(username);
    const isRight = await verifyPassword(account?.hash ?? this.hashing.decoy, password, rank);
    return isRight ? account : null;
  }

  /** Ensures that the password is still the same, until `tx` ends. @throws {ApiError} 401 */
  async confirm(tx: Queryable, { userId, hash }: ProvenAccount): Promise<void> {
    const held = await users.holdPasswordHash(tx, userId);
    const isStill = hash === (userId === ADMIN_USER_ID ? await this.admin.hash(tx) : held);
    if (!isStill) throw unauthorized('wrong user name or password');
  }

  /** Replaces the password of an account where it is stored, and runs `alongside` in the same transaction. */
  async replacePassword(
    userId: number,
    password: string,
    alongside: (tx: Queryable) => Promise<void>,
  ): Promise<void> {
    if (userId === ADMIN_USER_ID) return this.admin.replacePassword(password, alongside);
    const hash = await this.hashing.hash(password);
    await this.database.transaction(async (tx) => {
      await users.updateUser(tx, userId, { passwordHash: hash });
      await alongside(tx);
    });
  }

  /** The name in the configuration takes precedence over the same name in the database. */
  private async named(username: string): Promise<ProvenAccount | null> {
    const user = await users.findLogin(this.database, foldedName(username));
    if (foldedName(username) !== foldedName(this.admin.username))
      return user === null ? null : { userId: user.id, username: user.username, hash: user.passwordHash };
    const hash = await this.admin.hash();
    return hash === null ? null : { userId: ADMIN_USER_ID, username: this.admin.username, hash };
  }
}
