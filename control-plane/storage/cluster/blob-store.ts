/**
 * SQL of `blobs`: content that one node fetches and all nodes need, gzip-compressed and split into parts. The key of a
 * blob is the hash of its text, so a blob never changes. It is stored in the same transaction as the row that refers to
 * it.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gunzip, gzip } from 'node:zlib';
import { errorCode } from '../../../shared/errors.ts';
import type { Queryable } from '../db/database.ts';

/** Size of a part in bytes: only one part at a time is in memory. */
const PART_BYTES = 1_048_576;

/** The content of a blob does not match its name. */
export class DamagedBlob extends Error {
  override readonly name = 'DamagedBlob';
}

/** The key of a text: the first half of its SHA-256 digest in hexadecimal. */
export function contentKey(digest: string): string {
  return digest.slice(0, 32);
}

/**
 * Stores a gzip-compressed file under its key, unless the blob already exists. Transactions that store blobs run one at
 * a time.
 */
export async function storeBlob(tx: Queryable, key: string, path: string): Promise<void> {
  if ((await missingBlobs(tx, [key])).length === 0) return;
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(PART_BYTES);
    for (let part = 0; ; part++) {
      const { bytesRead } = await file.read(buffer, 0, PART_BYTES);
      if (bytesRead === 0) return;
      const values = [key, part, buffer.subarray(0, bytesRead)];
      await tx.query('INSERT INTO blobs (content_key, part, bytes) VALUES ($1, $2, $3)', values);
    }
  } finally {
    await file.close();
  }
}

/** A text that is ready to be stored. */
export interface PackedText {
  readonly key: string;
  /** Size of the text in bytes. */
  readonly bytes: number;
  /** Gzip-compressed. */
  readonly packed: Buffer;
}

/** Compresses a text, outside of the transaction that stores it. */
export async function packText(text: string): Promise<PackedText> {
  const bytes = Buffer.from(text);
  const key = contentKey(createHash('sha256').update(bytes).digest('hex'));
  return { key, bytes: bytes.length, packed: await promisify(gzip)(bytes) };
}

/** Like `storeBlob()`, for a text in memory. */
export async function storeText(tx: Queryable, { key, packed }: PackedText): Promise<void> {
  if ((await missingBlobs(tx, [key])).length === 0) return;
  for (let part = 0; part * PART_BYTES < packed.length; part++) {
    const values = [key, part, packed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)];
    await tx.query('INSERT INTO blobs (content_key, part, bytes) VALUES ($1, $2, $3)', values);
  }
}

/** A stored text; null if it does not exist. */
export async function readText(db: Queryable, key: string): Promise<string | null> {
  const parts: Buffer[] = [];
  for await (const part of partsOf(db, key)) parts.push(part);
  return parts.length === 0 ? null : (await promisify(gunzip)(Buffer.concat(parts))).toString('utf8');
}

/** Those of the given keys that have no blob. */
export async function missingBlobs(db: Queryable, keys: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `SELECT key FROM unnest($1::text[]) AS key
     WHERE NOT EXISTS (SELECT FROM blobs WHERE content_key = key AND part = 0)`,
    [keys],
  );
  return rows.map(({ key }) => key);
}

/**
 * Writes a blob to a new file, still gzip-compressed; false if the blob does not exist. If fetching fails, the file may
 * remain, and the caller must delete it. @throws {DamagedBlob}
 */
export async function fetchBlob(db: Queryable, key: string, path: string): Promise<boolean> {
  if ((await missingBlobs(db, [key])).length > 0) return false;
  await pipeline(partsOf(db, key), createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
  const digest = createHash('sha256');
  try {
    await pipeline(createReadStream(path), createGunzip(), digest);
  } catch (error) {
    // Only an error of zlib means that the blob is damaged, not an error of this disk.
    if (!errorCode(error).startsWith('Z_')) throw error;
    throw new DamagedBlob(`blob ${key} cannot be read`, { cause: error });
  }
  if (contentKey(digest.digest('hex')) !== key)
    throw new DamagedBlob(`the content of blob ${key} does not match its checksum`);
  return true;
}

/** Deletes an unusable blob, so that it is fetched again when needed. */
export async function removeBlob(tx: Queryable, key: string): Promise<void> {
  await tx.query('DELETE FROM blobs WHERE content_key = $1', [key]);
}

async function* partsOf(db: Queryable, key: string): AsyncGenerator<Buffer> {
  for (let part = 0; ; part++) {
    const { rows } = await db.query<{ bytes: Buffer }>(
      'SELECT bytes FROM blobs WHERE content_key = $1 AND part = $2',
      [key, part],
    );
    if (rows[0] === undefined) return;
    yield rows[0].bytes;
  }
}
