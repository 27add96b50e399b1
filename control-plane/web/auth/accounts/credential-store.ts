/** SQL of `admin_credential`: at most one row, the hash of the administrator's password. */
import type { Queryable } from '../../../storage/db/database.ts';

/** The stored hash; null before setup. */
export async function readHash(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ password_hash: string }>('SELECT password_hash FROM admin_credential');
  return rows[0]?.password_hash ?? null;
}

/** Stores the first hash. Returns false without a change if there is already one. */
export async function insertHash(tx: Queryable, hash: string, now: Date): Promise<boolean> {
  const text =
    'INSERT INTO admin_credential (password_hash, updated_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING';
  return (await tx.query(text, [hash, now])).rowCount === 1;
}

/** Stores a hash, and replaces an existing one. */
export async function replaceHash(tx: Queryable, hash: string, now: Date): Promise<void> {
  await tx.query(
    `INSERT INTO admin_credential (password_hash, updated_at) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET password_hash = excluded.password_hash, updated_at = excluded.updated_at`,
    [hash, now],
  );
}
