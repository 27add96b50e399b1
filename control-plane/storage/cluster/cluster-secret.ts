/**
 * The secret that all nodes of a database share, so that clients may switch between nodes: keys of TLS session tickets
 * and of DNS cookies are derived from it. The first node creates it, the database stores it, and each node has a copy
 * in its data directory, because the start does not wait for the database. The secret is not stored anywhere else.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import type { Database } from '../db/database.ts';
import { onDatabaseUp } from '../db/on-up.ts';
import { writeDurably } from '../../host/files/durable-file.ts';

export interface ClusterSecretParts {
  readonly database: Database;
  readonly dataDir: string;
  readonly logger: Logger;
}

const SECRET_BYTES = 32;
const HEX_SECRET = new RegExp(`^[0-9a-f]{${String(2 * SECRET_BYTES)}}$`);

/** The secret as this node knows it. */
export class ClusterSecret {
  private readonly parts: ClusterSecretParts;
  private readonly path: string;
  private secret: Buffer;
  /** Whether the file contains the current secret. */
  private isKept: boolean;

  /** Uses the secret of the last run, or a new one until the database provides another. */
  constructor(parts: ClusterSecretParts) {
    this.parts = parts;
    this.path = join(parts.dataDir, 'cluster-secret');
    const kept = this.read();
    this.isKept = kept !== null;
    this.secret = kept ?? randomBytes(SECRET_BYTES);
  }

  /** The current secret; returns the same object until the secret changes. */
  current(): Uint8Array {
    return this.secret;
  }

  /**
   * Synchronizes the secret with the other nodes each time the database becomes available; returns a function that ends
   * the synchronization.
   */
  follow(): () => Promise<void> {
    const { database, logger } = this.parts;
    return onDatabaseUp(database, logger, 'synchronize the cluster secret', () => this.agree());
  }

  /** Adopts the secret in the database or, if there is none, stores this node's secret there. */
  async agree(): Promise<void> {
    const { database, logger } = this.parts;
    await database.query('INSERT INTO cluster_secret (secret) VALUES ($1) ON CONFLICT DO NOTHING', [
      this.secret,
    ]);
    const { rows } = await database.query<{ secret: Buffer }>('SELECT secret FROM cluster_secret');
    const { secret } = rows[0]!;
    if (!secret.equals(this.secret)) {
      this.secret = secret;
      this.isKept = false;
      logger.info('adopted the cluster secret from the database');
    }
    if (this.isKept) return;
    await writeDurably(this.path, Buffer.from(`${secret.toString('hex')}\n`));
    this.isKept = true;
  }

  private read(): Buffer | null {
    const { path } = this;
    const { logger } = this.parts;
    try {
      const text = readFileSync(path, 'latin1').trim();
      if (HEX_SECRET.test(text)) return Buffer.from(text, 'hex');
      logger.warn('the file with the cluster secret is damaged; the database has another copy', {
        path,
      });
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT'))
        logger.warn('could not read the cluster secret', { path, reason: reasonOf(error) });
    }
    return null;
  }
}

/** A key for one purpose (HKDF-SHA-256, RFC 5869). Neither the secret nor other keys can be computed from it. */
export function deriveKey(secret: Uint8Array, purpose: string, sizeBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), `weir ${purpose}`, sizeBytes));
}
