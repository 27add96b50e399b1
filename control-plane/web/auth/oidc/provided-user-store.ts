/** SQL of `provided_users`: the users that log in through a provider. */
import type { Role } from '../../../../shared/api/auth-api.ts';
import type { Queryable } from '../../../storage/db/database.ts';

/** A person at a provider. */
export interface ProviderPerson {
  readonly issuer: string;
  readonly subject: string;
}

/** The user of a person, locked until the transaction ends; null at the first login. */
export async function lockProvidedUser(
  tx: Queryable,
  { issuer, subject }: ProviderPerson,
): Promise<{
  readonly id: number;
  readonly username: string;
  readonly role: Role;
  readonly enabled: boolean;
} | null> {
  const { rows } = await tx.query<{ id: number; username: string; role: Role; enabled: boolean }>(
    `SELECT u.id, u.username, u.role, u.enabled FROM provided_users p JOIN users u ON u.id = p.user_id
     WHERE p.issuer = $1 AND p.subject = $2 FOR UPDATE OF u`,
    [issuer, subject],
  );
  return rows[0] ?? null;
}

/** Prevents other logins from creating a user for the same person until the transaction ends. */
export async function holdPerson(tx: Queryable, { issuer, subject }: ProviderPerson): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${issuer}\n${subject}`]);
}

/** Whether no user has this name, ignoring case. */
export async function isNameFree(tx: Queryable, username: string): Promise<boolean> {
  return (await tx.query('SELECT FROM users WHERE lower(username) = lower($1)', [username])).rowCount === 0;
}

/** Stores a user without a password and returns the id. */
export async function insertProvidedUser(
  tx: Queryable,
  { issuer, subject }: ProviderPerson,
  user: { readonly username: string; readonly role: Role },
): Promise<number> {
  const { rows } = await tx.query<{ id: number }>(
    'INSERT INTO users (username, role) VALUES ($1, $2) RETURNING id',
    [user.username, user.role],
  );
  const { id } = rows[0]!;
  await tx.query('INSERT INTO provided_users (issuer, subject, user_id) VALUES ($1, $2, $3)', [
    issuer,
    subject,
    id,
  ]);
  return id;
}

/** Sets the role of a user to the current one at the provider. */
export async function setRole(tx: Queryable, id: number, role: Role): Promise<void> {
  await tx.query('UPDATE users SET role = $2, updated_at = now() WHERE id = $1', [id, role]);
}
