/** SQL of `api_tokens`. Handles hashes of keys, never a key. */
import type { TokenRole } from '../../../../shared/api/auth-api.ts';
import { conflict, notFound } from '../../../api/api-error.ts';
import { isUniqueViolation } from '../../../storage/db/database-errors.ts';
import type { Queryable } from '../../../storage/db/database.ts';

/** A token as stored; its key's hash stays in the database. */
export interface StoredToken {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly role: TokenRole;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The stored form of a token's key. */
export interface HashedKey {
  readonly keyHash: Buffer;
  readonly prefix: string;
}

/** A token with the hash of its key. */
export type HashedToken = StoredToken & Pick<HashedKey, 'keyHash'>;

/** Values of a new token. */
export interface NewToken extends HashedKey, Pick<StoredToken, 'name' | 'role'> {
  readonly createdAt: Date;
}

/** Fields of a change; undefined = unchanged. */
export type TokenChange = {
  readonly [Field in 'name' | 'role' | 'keyHash' | 'prefix']?: NewToken[Field] | undefined;
};

type Lock = '' | 'FOR UPDATE';

const COLUMNS = 'id, name, prefix, role, created_at AS "createdAt", last_used_at AS "lastUsedAt"';

/** All tokens, by name. */
export async function listTokens(db: Queryable): Promise<StoredToken[]> {
  return (await db.query<StoredToken>(`SELECT ${COLUMNS} FROM api_tokens ORDER BY lower(name), id`)).rows;
}

/** All tokens with the hashes of their keys. */
export async function listHashedTokens(db: Queryable): Promise<HashedToken[]> {
  return (await db.query<HashedToken>(`SELECT ${COLUMNS}, key_hash AS "keyHash" FROM api_tokens`)).rows;
}

/** Number of tokens. */
export async function countTokens(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>('SELECT count(*)::integer AS count FROM api_tokens');
  return rows[0]!.count;
}

/** One token; 404 if it does not exist. If locked, it does not change until the transaction ends. */
export async function existingToken(db: Queryable, id: number, lock: Lock = ''): Promise<StoredToken> {
  const text = `SELECT ${COLUMNS} FROM api_tokens WHERE id = $1 ${lock}`;
  const { rows } = await db.query<StoredToken>(text, [id]);
  if (rows[0] === undefined) throw notFound(`API token ${id}`);
  return rows[0];
}

/** Whether a token has this key; locks its row until the transaction ends. */
export async function holdKey(tx: Queryable, keyHash: Buffer): Promise<boolean> {
  const text = 'SELECT 1 FROM api_tokens WHERE key_hash = $1 FOR SHARE';
  return (await tx.query(text, [keyHash])).rowCount === 1;
}

/** Stores a new token. */
export async function insertToken(tx: Queryable, token: NewToken): Promise<StoredToken> {
  const text = `INSERT INTO api_tokens (name, key_hash, prefix, role, created_at) VALUES ($1, $2, $3, $4, $5)
    RETURNING ${COLUMNS}`;
  const values = [token.name, token.keyHash, token.prefix, token.role, token.createdAt];
  return (await tx.query<StoredToken>(text, values)).rows[0]!;
}

/** Changes the given fields; 409 if another token has the key. */
export async function updateToken(tx: Queryable, id: number, change: TokenChange): Promise<StoredToken> {
  const text = `UPDATE api_tokens SET name = coalesce($2, name), role = coalesce($3, role),
      key_hash = coalesce($4, key_hash), prefix = coalesce($5, prefix) WHERE id = $1 RETURNING ${COLUMNS}`;
  const { name, role, keyHash, prefix } = change;
  try {
    return (await tx.query<StoredToken>(text, [id, name, role, keyHash, prefix])).rows[0]!;
  } catch (error) {
    if (isUniqueViolation(error, 'api_tokens_key_hash_key')) throw conflict('another API token has this key');
    throw error;
  }
}

/** Removes a token and, with the row, the sessions that were opened with it. */
export async function deleteToken(tx: Queryable, id: number): Promise<void> {
  await tx.query('DELETE FROM api_tokens WHERE id = $1', [id]);
}

/** Records the use of a token. */
export async function touchToken(db: Queryable, id: number, now: Date): Promise<void> {
  await db.query('UPDATE api_tokens SET last_used_at = $2 WHERE id = $1', [id, now]);
}
