/**
 * The certificate that was uploaded to one node, for all nodes: in the database, sealed with the cluster secret. Each
 * node installs a new certificate once and stores it in its own files, so that starting does not depend on the
 * database, and so that later changes of the files, by a person or a program, are kept.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import type { ChangeFollower } from '../../storage/cluster/change-follower.ts';
import type { ClusterSecret } from '../../storage/cluster/cluster-secret.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { CertificateFilesError } from './certificate-files.ts';
import { CertificateFault, readPair, refuseOutOfDate } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';
import type { WebCertificate } from './web-certificate.ts';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey } from '../../storage/cluster/cluster-secret.ts';

/** Dependencies of the shared certificate. */
export interface SharedCertificateParts {
  readonly database: Database;
  readonly secret: Pick<ClusterSecret, 'current' | 'agree'>;
  readonly certificate: Pick<WebCertificate, 'current' | 'replace'>;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PURPOSE = 'web certificate';

/** Shares and installs certificates. One per node. */
export class SharedCertificate {
  private readonly parts: SharedCertificateParts;
  private readonly path: string;

  constructor(parts: SharedCertificateParts) {
    this.parts = parts;
    this.path = join(parts.dataDir, 'web-certificate-version');
  }

  /** Shares a pair with all nodes, as part of the transaction of its upload. */
  async share(tx: Queryable, { cert, key }: CertificatePair): Promise<void> {
    const sealed = seal(this.parts.secret.current(), PURPOSE, Buffer.from(key + cert));
    await tx.query(
      `INSERT INTO web_certificate (sealed) VALUES ($1) ON CONFLICT (is_only)
       DO UPDATE SET sealed = excluded.sealed, version = excluded.version, changed_at = excluded.changed_at`,
      [sealed],
    );
  }

  /**
   * Installs each certificate that is shared from now on, and the latest one shared before; returns a function that
   * stops this.
   */
  follow(changes: Pick<ChangeFollower, 'onChange'>): () => Promise<void> {
    return changes.onChange('web_certificate', () => this.take());
  }

  /** Installs the shared certificate, unless this node has already done so. */
  async take(): Promise<void> {
    const { database, secret, certificate, clock, logger } = this.parts;
    const { rows } = await database.query<{ version: string; sealed: Buffer }>(
      'SELECT version, sealed FROM web_certificate',
    );
    const [shared] = rows;
    if (shared === undefined || shared.version === (await this.takenVersion())) return;
    await secret.agree();
    try {
      const text = unseal(secret.current(), PURPOSE, shared.sealed).toString();
      const pair = readPair(text, text);
      refuseOutOfDate(pair, clock.nowMs());
      await certificate.replace(async (_, install) => {
        // The node that received the upload already uses the certificate.
        if (certificate.current()?.cert !== pair.cert) await install(pair);
      });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      logger.error('could not use the certificate that was uploaded to another node', {
        reason: reasonOf(error),
      });
    }
    await writeDurably(this.path, Buffer.from(`${shared.version}\n`));
  }

  private async takenVersion(): Promise<string> {
    try {
      return (await readFile(this.path, 'latin1')).trim();
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return '';
      throw error;
    }
  }
}

/** Whether another attempt would have the same result. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof BrokenSeal ||
    error instanceof CertificateFault ||
    (error instanceof CertificateFilesError && error.isForeign)
  );
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Sealed bytes cannot be opened: they were sealed with another secret or for another purpose, or were changed since.
 */
export class BrokenSeal extends Error {
  override readonly name = 'BrokenSeal';
}

/** Encrypts bytes; the result consists of nonce, tag and ciphertext. */
export function seal(secret: Uint8Array, purpose: string, clear: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyFor(secret, purpose), nonce);
  const sealed = Buffer.concat([cipher.update(clear), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Decrypts sealed bytes. @throws {BrokenSeal} */
export function unseal(secret: Uint8Array, purpose: string, sealed: Uint8Array): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, keyFor(secret, purpose), nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new BrokenSeal(
      `could not decrypt the data for ${purpose}: it was encrypted with another secret, or is damaged`,
      {
        cause,
      },
    );
  }
}

function keyFor(secret: Uint8Array, purpose: string): Uint8Array {
  return deriveKey(secret, `sealed ${purpose}`, KEY_BYTES);
}
