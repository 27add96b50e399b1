/**
 * Users. The list includes the administrator, who cannot be deleted, so that someone can always log in. A change that
 * reduces permissions revokes the user's sessions. The HTTP routes are in `user-routes.ts`.
 */
import { isDeepStrictEqual } from 'node:util';
import { codedAction, codedSubject } from '../../../../shared/policy/changes/change-codes.ts';
import type { Role } from '../../../../shared/api/auth-api.ts';
import type { UserCreate, UserUpdate } from '../../../../shared/api/users-api.ts';
import { conflict, forbidden, invalid, notFound } from '../../../api/api-error.ts';
import type { Author, Caller } from '../../../api/caller.ts';
import { recordAudit } from '../../../policy/audit/audit-store.ts';
import type { Database, Queryable } from '../../../storage/db/database.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import { deleteSessionsOfUser } from '../sessions/session-store.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type PasswordHashing, PASSWORD_HASHING } from './password.ts';
import { looksLike } from './user-name.ts';
import { refuseWeak } from './weak-password.ts';
import * as store from './user-store.ts';
import { ADMIN_USER_ID } from './user-store.ts';
import type { StoredUser } from './user-store.ts';

/** Maximum number of users; the list of users is not paginated. */
export const MAX_USERS = 1000;

/** A user with the displayed name, which is in the configuration for the administrator. */
export interface NamedUser extends StoredUser {
  readonly username: string;
}

/** Dependencies of users. */
export interface UsersParts {
  readonly database: Database;
  readonly sessions: Pick<Sessions, 'remove'>;
  readonly secondFactors: Pick<SecondFactors, 'remove'>;
  /** Name of the administrator. */
  readonly adminName: () => string;
  readonly hashing?: PasswordHashing;
}

/** All users. Throws ApiError and DatabaseUnavailable. */
export class Users {
  private readonly parts: UsersParts;
  private readonly hashing: PasswordHashing;

  constructor(parts: UsersParts) {
    this.parts = parts;
    this.hashing = parts.hashing ?? PASSWORD_HASHING;
  }

  /** All users: the administrator first, then all other users by name. */
  async list(): Promise<NamedUser[]> {
    return (await store.listUsers(this.parts.database)).map((user) => this.named(user));
  }

  /** One user; 404 if there is none. */
  async read(id: number, db: Queryable = this.parts.database): Promise<NamedUser> {
    return this.named(await this.found(db, id));
  }

  /** Stores a new user; 409 if the name is taken. */
  async create(author: Author, wanted: UserCreate): Promise<NamedUser> {
    const { username, display_name: displayName, role, enabled, password, client_ids: clientIds } = wanted;
    refuseClients(role, clientIds);
    if (looksLike(username, this.parts.adminName())) throw store.nameTaken(username);
    await refuseWeak(password, username, 'password');
    const passwordHash = await this.hashing.hash(password);
    const user = await this.parts.database.transaction(async (tx) => {
      if ((await store.countUsers(tx)) >= MAX_USERS)
        throw conflict(`there are already ${MAX_USERS} users; delete one first`);
      const { id } = await store.insertUser(tx, { username, displayName, role, enabled, passwordHash });
      await store.replaceClients(tx, id, clientIds);
      const made = await this.found(tx, id);
      await recordAudit(tx, {
        actor: author,
        subject: codedSubject('user', { name: username }),
        action: codedAction('created'),
        after: noted(made),
      });
      return made;
    });
    return this.named(user);
  }

  /** Changes the given fields. Changing the role or password, or disabling the user, revokes the sessions. */
  async update(author: Author, id: number, change: UserUpdate): Promise<NamedUser> {
    this.guardAdmin(id, change);
    const { display_name: displayName, role, enabled, password, client_ids: clientIds } = change;
    // Hashing is slow, so it happens before the row is locked.
    const { username } = this.named(await this.found(this.parts.database, id));
    if (password !== undefined) await refuseWeak(password, username, 'password');
    const passwordHash = password === undefined ? undefined : await this.hashing.hash(password);
    const user = await this.parts.database
      .transaction(async (tx) => {
        const before = await this.found(tx, id, 'FOR UPDATE');
        await author.precondition?.(tx);
        await store.updateUser(tx, id, { displayName, role, enabled, passwordHash });
        if (clientIds !== undefined) {
          refuseClients(role ?? before.role, clientIds);
          await store.replaceClients(tx, id, clientIds);
        }
        const after = await this.found(tx, id);
        if (passwordHash !== undefined || after.role !== before.role || !after.enabled)
          await deleteSessionsOfUser(tx, id);
        const isPasswordNew = passwordHash !== undefined;
        if (isPasswordNew || !isDeepStrictEqual(noted(before), noted(after)))
          await recordAudit(tx, {
            actor: author,
            subject: codedSubject('user', { name: this.named(after).username }),
            action: codedAction('changed'),
            before: noted(before),
            after: { ...noted(after), ...(isPasswordNew ? { password_changed: true } : {}) },
          });
        return after;
      })
      .finally(() => this.clearCaches(id));
    return this.named(user);
  }

  /** Removes a user and the user's sessions; 404, or 403 for the administrator. */
  async remove(author: Author, id: number): Promise<void> {
    if (id === ADMIN_USER_ID) throw forbidden('admin_deleted');
    await this.parts.database
      .transaction(async (tx) => {
        const before = this.named(await this.found(tx, id, 'FOR UPDATE'));
        await author.precondition?.(tx);
        await store.deleteUser(tx, id);
        const subject = codedSubject('user', { name: before.username });
        const action = codedAction('deleted');
        await recordAudit(tx, { actor: author, subject, action, before: noted(before) });
      })
      .finally(() => this.clearCaches(id));
  }

  /**
   * Removes the second factor of a user who has lost it. 404 if the user has none; 403 for the caller's own factor, and
   * for the administrator's except from the command line.
   */
  async removeSecondFactor(author: Author, caller: Caller, id: number): Promise<void> {
    if (id === caller.userId) throw forbidden('own_factor');
    const isCommandLine = caller.userId === null && caller.tokenId === null;
    if (id === ADMIN_USER_ID && !isCommandLine) throw forbidden('admin_factor');
    const { username } = this.named(await this.found(this.parts.database, id));
    await this.parts.secondFactors.remove(author, { userId: id, username });
  }

  /** Only allows changes to the display name of the administrator. */
  private guardAdmin(id: number, { role, enabled, password }: UserUpdate): void {
    if (id !== ADMIN_USER_ID) return;
    if (role !== undefined && role !== 'admin') throw forbidden('admin_role');
    if (enabled === false) throw forbidden('admin_disabled');
    if (password !== undefined) throw forbidden('admin_password');
  }

  private async found(db: Queryable, id: number, lock: '' | 'FOR UPDATE' = ''): Promise<StoredUser> {
    const user = await store.findUser(db, id, lock);
    if (user === null) throw notFound(`user ${id}`);
    return user;
  }

  /** Removes cached sessions, even if it is unknown whether the database has revoked them. */
  private clearCaches(id: number): void {
    this.parts.sessions.remove(({ userId }) => userId === id);
  }

  private named(user: StoredUser): NamedUser {
    return { ...user, username: user.username ?? this.parts.adminName() };
  }
}

/** Fields of a user in the audit log. */
function noted({ id, username, displayName, role, enabled, clientIds }: StoredUser): object {
  return {
    id,
    ...(username === null ? {} : { username }),
    display_name: displayName,
    role,
    enabled,
    ...(role === 'family' ? { client_ids: clientIds } : {}),
  };
}

/** Refuses clients for roles other than `family`, which are not limited to some clients. @throws {ApiError} 400 */
function refuseClients(role: Role, clientIds: readonly number[]): void {
  if (role !== 'family' && clientIds.length > 0)
    throw invalid([{ path: 'client_ids', message: 'expected none, because the role is not family' }]);
}
