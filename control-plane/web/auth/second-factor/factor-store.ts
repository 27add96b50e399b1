/** SQL of `second_factors` and `recovery_codes`. Only this file reads secrets of second factors. */
import type { Queryable } from '../../../storage/db/database.ts';

/** The second factor of one user, as stored. */
export interface StoredFactor {
  readonly secret: Buffer;
  readonly isConfirmed: boolean;
  /** Time step of the newest accepted code. */
  readonly lastStep: number | null;
}

/** The second factor of a user; null if there is none. `FOR UPDATE` is for transactions that will change it. */
export async function findFactor(
  db: Queryable,
  userId: number,
  lock: '' | 'FOR UPDATE' = '',
): Promise<StoredFactor | null> {
  const { rows } = await db.query<StoredFactor>(
    `SELECT secret, confirmed_at IS NOT NULL AS "isConfirmed", last_step::float8 AS "lastStep"
     FROM second_factors WHERE user_id = $1 ${lock}`,
    [userId],
  );
  return rows[0] ?? null;
}

/** Number of unused recovery codes of a user. */
export async function countRecoveryCodes(db: Queryable, userId: number): Promise<number> {
  const text = 'SELECT count(*)::integer AS count FROM recovery_codes WHERE user_id = $1';
  return (await db.query<{ count: number }>(text, [userId])).rows[0]!.count;
}

/** Whether a user has this recovery code. */
export async function hasRecoveryCode(db: Queryable, userId: number, codeHash: Buffer): Promise<boolean> {
  const text = 'SELECT FROM recovery_codes WHERE user_id = $1 AND code_hash = $2';
  return (await db.query(text, [userId, codeHash])).rowCount === 1;
}

/** Locks a user, so that other changes of the second factor wait; false if there is no such user. */
export async function lockUser(tx: Queryable, userId: number): Promise<boolean> {
  return (await tx.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId])).rowCount === 1;
}

/** Stores an unconfirmed secret, which replaces an earlier one. */
export async function putSecret(tx: Queryable, userId: number, secret: Buffer): Promise<void> {
  await tx.query(
    `INSERT INTO second_factors (user_id, secret) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, confirmed_at = NULL, last_step = NULL`,
    [userId, secret],
  );
}

/** Confirms the factor; from now on logins need a code. */
export async function confirmFactor(tx: Queryable, userId: number, now: Date): Promise<void> {
  await tx.query('UPDATE second_factors SET confirmed_at = $2 WHERE user_id = $1', [userId, now]);
}

/** Records the newest accepted code. */
export async function noteStep(tx: Queryable, userId: number, step: number): Promise<void> {
  await tx.query('UPDATE second_factors SET last_step = $2 WHERE user_id = $1', [userId, step]);
}

/** Consumes a recovery code; false if it does not exist. */
export async function takeRecoveryCode(tx: Queryable, userId: number, codeHash: Buffer): Promise<boolean> {
  const text = 'DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2';
  return (await tx.query(text, [userId, codeHash])).rowCount === 1;
}

/** Replaces all recovery codes of a user. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  userId: number,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
  await tx.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])', [
    userId,
    hashes,
  ]);
}

/** Removes the second factor of a user, with the recovery codes; false if there is none. */
export async function deleteFactor(tx: Queryable, userId: number): Promise<boolean> {
  return (await tx.query('DELETE FROM second_factors WHERE user_id = $1', [userId])).rowCount === 1;
}
