/** Accounts that log in with a password: the administrator (`admin-account.ts`) and the users of the database. */
import { unauthorized } from '../../../api/api-error.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import type { AdminAccount } from './admin-account.ts';
import { type PasswordHashing, PASSWORD_HASHING, verifyPassword } from './password.ts';
import { foldedName } from './user-name.ts';
import * as users from './user-store.ts';
import { ADMIN_USER_ID } from './user-store.ts';

/** A user who has just given the correct password. */
export interface ProvenAccount {
  readonly userId: number;
  readonly username: string;
  /** The hash that the password matched. */
  readonly hash: string;
}

/** Accounts of one cluster. */
export class Accounts {
  readonly admin: AdminAccount;
  private readonly database: Database;
  private readonly hashing: PasswordHashing;

  constructor(admin: AdminAccount, database: Database, hashing = PASSWORD_HASHING) {
    this.admin = admin;
    this.database = database;
    this.hashing = hashing;
  }

  /** The account of a name and its password, else null. Takes the time of one hash, whether the name exists or not. */
  async prove(username: string, password: string, rank = 0): Promise<ProvenAccount | null> {
    const account = await this.named(username);
    const isRight = await verifyPassword(account?.hash ?? this.hashing.decoy, password, rank);
    return isRight ? account : null;
  }

  /** Whether the password is still that one; then it stays until `tx` ends. @throws {ApiError} 401 */
  async confirm(tx: Queryable, { userId, hash }: ProvenAccount): Promise<void> {
    const held = await users.holdPasswordHash(tx, userId);
    const isStill = hash === (userId === ADMIN_USER_ID ? await this.admin.hash(tx) : held);
    if (!isStill) throw unauthorized('wrong user name or password');
  }

  /** Replaces the password of an account where it is, and does `alongside` in the same transaction. */
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

  /** The name of the configuration wins over the same one in the database. */
  private async named(username: string): Promise<ProvenAccount | null> {
    const user = await users.findLogin(this.database, foldedName(username));
    if (foldedName(username) !== foldedName(this.admin.username))
      return user === null ? null : { userId: user.id, username: user.username, hash: user.passwordHash };
    const hash = await this.admin.hash();
    return hash === null ? null : { userId: ADMIN_USER_ID, username: this.admin.username, hash };
  }
}
