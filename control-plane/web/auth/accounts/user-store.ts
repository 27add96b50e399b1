/** SQL of `users`. Row 1 is the administrator, whose name is in the configuration, so the column is NULL. */
import type { Role } from '../../../../shared/api/auth-api.ts';
import { conflict, invalid, unknownReference } from '../../../api/api-error.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../../storage/db/database-errors.ts';
import type { Queryable } from '../../../storage/db/database.ts';
import { seenName } from './user-name.ts';

/** Id of the administrator. */
export const ADMIN_USER_ID = 1;

/** A user as stored; the hash of the password stays in the database. */
export interface StoredUser {
  readonly id: number;
  /** Null = the administrator. */
  readonly username: string | null;
  readonly displayName: string;
  readonly role: Role;
  readonly enabled: boolean;
  /** Clients that are linked to a user of the role family, in order of their ids; empty for other roles. */
  readonly clientIds: readonly number[];
  /** Whether a login also needs a code. */
  readonly hasSecondFactor: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Values of a new user. */
export interface NewUser extends Pick<StoredUser, 'displayName' | 'role' | 'enabled'> {
  readonly username: string;
  readonly passwordHash: string;
}

/** Fields of a change; undefined = unchanged. */
export type UserChange = {
  readonly [Field in 'displayName' | 'role' | 'enabled' | 'passwordHash']?: NewUser[Field] | undefined;
};

const COLUMNS = `id, username, display_name AS "displayName", role, enabled, created_at AS "createdAt",
  ARRAY(SELECT client_id FROM user_clients l WHERE l.user_id = users.id ORDER BY client_id) AS "clientIds",
  updated_at AS "updatedAt", EXISTS (SELECT FROM second_factors f
    WHERE f.user_id = users.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"`;

/** All users: the administrator first, then all other users by name. */
export async function listUsers(db: Queryable): Promise<StoredUser[]> {
  const text = `SELECT ${COLUMNS} FROM users ORDER BY id <> 1, lower(username)`;
  return (await db.query<StoredUser>(text)).rows;
}

/** Number of users. */
export async function countUsers(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>('SELECT count(*)::integer AS count FROM users');
  return rows[0]!.count;
}

/** One user; null if there is none. Uses `FOR UPDATE` in a transaction that will change the user. */
export async function findUser(
  db: Queryable,
  id: number,
  lock: '' | 'FOR UPDATE' = '',
): Promise<StoredUser | null> {
  const text = `SELECT ${COLUMNS} FROM users WHERE id = $1 ${lock}`;
  return (await db.query<StoredUser>(text, [id])).rows[0] ?? null;
}

/** Data for checking a login of an enabled user; null if there is none. The name must be folded (`foldedName`). */
export async function findLogin(
  db: Queryable,
  folded: string,
): Promise<{ readonly id: number; readonly username: string; readonly passwordHash: string } | null> {
  const { rows } = await db.query<{ id: number; username: string; passwordHash: string }>(
    `SELECT id, username, password_hash AS "passwordHash" FROM users
     WHERE lower(username) = $1 AND enabled AND password_hash IS NOT NULL`,
    [folded],
  );
  return rows[0] ?? null;
}

/** The id of the enabled user of a name; null if there is none. The name must be folded (`foldedName`). */
export async function findEnabledUser(db: Queryable, folded: string): Promise<number | null> {
  const text = 'SELECT id FROM users WHERE lower(username) = $1 AND enabled';
  return (await db.query<{ id: number }>(text, [folded])).rows[0]?.id ?? null;
}

/** Refuses to give the administrator the name of a user, who could then no longer log in. @throws {ApiError} 409 */
export async function refuseTaken(tx: Queryable, username: string): Promise<void> {
  const text = 'SELECT 1 FROM users WHERE lower(username) = $1';
  if ((await tx.query(text, [seenName(username)])).rows.length > 0) throw nameTaken(username);
}

/**
 * The hash of an enabled user, '' for the administrator, null for a disabled or missing user; locks the row until the
 * transaction ends.
 */
export async function holdPasswordHash(tx: Queryable, id: number): Promise<string | null> {
  const text = `SELECT coalesce(password_hash, '') AS hash FROM users WHERE id = $1 AND enabled FOR SHARE`;
  return (await tx.query<{ hash: string }>(text, [id])).rows[0]?.hash ?? null;
}

/** Stores a new user; 409 if the name is taken, ignoring case. */
export async function insertUser(tx: Queryable, user: NewUser): Promise<StoredUser> {
  const text = `INSERT INTO users (username, display_name, role, enabled, password_hash)
    VALUES ($1, $2, $3, $4, $5) RETURNING ${COLUMNS}`;
  const values = [user.username, user.displayName, user.role, user.enabled, user.passwordHash];
  try {
    return (await tx.query<StoredUser>(text, values)).rows[0]!;
  } catch (error) {
    if (isUniqueViolation(error, 'users_username_key')) throw nameTaken(user.username);
    throw error;
  }
}

/** 409 for a name that is taken. */
export function nameTaken(username: string): Error {
  return conflict(`a user named "${username}" already exists`);
}

/** Changes the given fields; null if there is no such user. */
export async function updateUser(tx: Queryable, id: number, change: UserChange): Promise<StoredUser | null> {
  const text = `UPDATE users SET display_name = coalesce($2, display_name), role = coalesce($3, role),
      enabled = coalesce($4, enabled), password_hash = coalesce($5, password_hash), updated_at = now()
    WHERE id = $1 RETURNING ${COLUMNS}`;
  const { displayName, role, enabled, passwordHash } = change;
  return (await tx.query<StoredUser>(text, [id, displayName, role, enabled, passwordHash])).rows[0] ?? null;
}

/**
 * Links exactly these clients to a user; 400 for an unknown client, and for a client that is part of another client.
 */
export async function replaceClients(tx: Queryable, id: number, clientIds: readonly number[]): Promise<void> {
  await refuseParts(tx, clientIds);
  await tx.query('DELETE FROM user_clients WHERE user_id = $1 AND client_id <> ALL ($2::integer[])', [
    id,
    clientIds,
  ]);
  try {
    await tx.query(
      `INSERT INTO user_clients (user_id, client_id) SELECT $1, unnest($2::integer[]) ON CONFLICT DO NOTHING`,
      [id, clientIds],
    );
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unknownReference('client_ids', 'client');
    throw error;
  }
}

/** Locks the rows, so that a concurrent merge of these clients waits, and then also moves their users. */
async function refuseParts(tx: Queryable, clientIds: readonly number[]): Promise<void> {
  const text = `SELECT id, device_id FROM clients WHERE id = ANY($1::integer[]) ORDER BY id FOR SHARE`;
  const { rows } = await tx.query<{ id: number; device_id: number | null }>(text, [clientIds]);
  const faults = rows.flatMap(({ id, device_id: main }) => {
    if (main === null || main === id) return [];
    const message = `client ${id} is part of client ${main}; expected that one`;
    return [{ path: `client_ids.${clientIds.indexOf(id)}`, message }];
  });
  if (faults.length > 0) throw invalid(faults);
}

/** Removes a user and, with the row, the user's sessions. */
export async function deleteUser(tx: Queryable, id: number): Promise<void> {
  await tx.query('DELETE FROM users WHERE id = $1', [id]);
}
