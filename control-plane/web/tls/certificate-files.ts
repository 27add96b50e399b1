/**
 * The two files of the web certificate. Either both files or neither are replaced: a third file with the whole new pair
 * is written first, from which the next start after a crash completes the replacement.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lstat, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { syncFolder, writeDurably } from '../../host/files/durable-file.ts';
import { CertificateFault, readPair } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';

/** Maximum size of a certificate file; a chain of ten certificates is smaller. */
export const MAX_CERT_BYTES = 64 * 1024;
/** Maximum size of a key file. */
export const MAX_KEY_BYTES = 16 * 1024;

/** The files cannot be replaced. */
export class CertificateFilesError extends Error {
  override readonly name = 'CertificateFilesError';
  /** Whether the files are links, belong to another user, or contain something other than a certificate and its key. */
  readonly isForeign: boolean;

  constructor(message: string, isForeign: boolean, cause?: unknown) {
    super(message, { cause });
    this.isForeign = isForeign;
  }
}

/** Paths of the files. */
export interface CertificatePaths {
  readonly cert: string;
  readonly key: string;
}

/** The certificate and key on disk. Changes must not overlap. */
export class CertificateFiles {
  readonly paths: CertificatePaths;

  constructor(paths: CertificatePaths) {
    this.paths = paths;
  }

  /** The pair, regardless of its dates; null if neither file exists. Throws CertificateFault if it cannot be used. */
  async read(): Promise<CertificatePair | null> {
    const cert = await readSmall(this.paths.cert, 'cert', MAX_CERT_BYTES);
    const key = await readSmall(this.paths.key, 'key', MAX_KEY_BYTES);
    if (cert === null && key === null) return null;
    if (cert === null) throw new CertificateFault('cert', `the file ${this.paths.cert} does not exist`);
    if (key === null) throw new CertificateFault('key', `the file ${this.paths.key} does not exist`);
    return readPair(cert, key);
  }

  /** Whether both files exist. */
  async exist(): Promise<boolean> {
    const states = await Promise.all([stateOf(this.paths.cert), stateOf(this.paths.key)]);
    return !states.includes(ABSENT);
  }

  /** A text that changes with every change of a file, or of the target of a symbolic link. */
  async fingerprint(): Promise<string> {
    return (await Promise.all([stateOf(this.paths.cert), stateOf(this.paths.key)])).join(' ');
  }

  /** Replaces both files, with mode 0600. Throws CertificateFilesError; in that case, the old files still exist. */
  async store(pair: CertificatePair): Promise<void> {
    await this.refuseForeign();
    try {
      for (const path of [this.paths.cert, this.paths.key])
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const keyBefore = await readIfThere(this.paths.key);
      await writeDurably(this.pendingPath, Buffer.from(pair.key), Buffer.from(pair.cert));
      try {
        await this.writeBoth(pair);
      } catch (error) {
        await this.restoreKey(keyBefore);
        throw error;
      }
      await this.deletePending();
    } catch (error) {
      throw new CertificateFilesError(`could not store the certificate: ${reasonOf(error)}`, false, error);
    }
  }

  /**
   * Writes the pair next to the files and deletes it again, which shows that `store()` may replace them and that the
   * disk has space. Throws CertificateFilesError like `store()`.
   */
  async check(pair: CertificatePair): Promise<void> {
    await this.refuseForeign();
    try {
      for (const path of [this.paths.cert, this.paths.key])
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const trials = [`${this.paths.key}.trial`, `${this.paths.cert}.trial`];
      try {
        for (const trial of trials) await writeDurably(trial, Buffer.from(pair.key), Buffer.from(pair.cert));
      } finally {
        for (const trial of trials) await rm(trial, { force: true });
      }
    } catch (error) {
      throw new CertificateFilesError(`could not store the certificate: ${reasonOf(error)}`, false, error);
    }
  }

  /** Completes a replacement that was interrupted by a crash. Usable files are kept unchanged. */
  async recover(): Promise<void> {
    const pending = await readSmall(this.pendingPath, 'key', MAX_CERT_BYTES + MAX_KEY_BYTES);
    if (pending === null) return;
    if (!(await this.isUsable())) await this.writeBoth(readPair(pending, pending));
    await this.deletePending();
  }

  private get pendingPath(): string {
    return `${this.paths.key}.pending`;
  }

  private async isUsable(): Promise<boolean> {
    try {
      return (await this.read()) !== null;
    } catch (error) {
      if (error instanceof CertificateFault) return false;
      throw error;
    }
  }

  /**
   * Called if the key was written but the certificate could not be written. If this also fails, the pending file
   * remains.
   */
  private async restoreKey(keyBefore: Buffer | null): Promise<void> {
    if (keyBefore === null) await rm(this.paths.key, { force: true });
    else await writeDurably(this.paths.key, keyBefore);
    await this.deletePending();
  }

  private async writeBoth(pair: CertificatePair): Promise<void> {
    await writeDurably(this.paths.key, Buffer.from(pair.key));
    await writeDurably(this.paths.cert, Buffer.from(pair.cert));
  }

  /** Files that Weir cannot have written are kept, even if the configuration gives their paths. */
  private async refuseForeign(): Promise<void> {
    const files = [
      [this.paths.cert, MAX_CERT_BYTES, (text: string) => new X509Certificate(text)],
      [this.paths.key, MAX_KEY_BYTES, (text: string) => createPrivateKey(text)],
    ] as const;
    for (const [path, limitBytes, parse] of files) {
      const reason = await foreignReason(path, limitBytes, parse);
      if (reason !== null) throw new CertificateFilesError(`${path} ${reason}`, true);
    }
  }

  private async deletePending(): Promise<void> {
    await rm(this.pendingPath, { force: true });
    await syncFolder(dirname(this.pendingPath));
  }
}

const ABSENT = 'absent';
const NOT_A_PAIR = 'was not written by Weir; move it away first';

/** Reason why the file at a path is not from Weir; null if it may be, or if there is none. */
async function foreignReason(
  path: string,
  limitBytes: number,
  parse: (text: string) => unknown,
): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  // A directory is not replaced: writing over it fails.
  if (found === null || found.isDirectory()) return null;
  // The link may belong to certbot, for example, which would no longer find its file.
  if (found.isSymbolicLink()) return 'is a link that another program manages; replace the certificate there';
  if (!found.isFile()) return 'is not a regular file; move it away first';
  if (found.uid !== process.geteuid!()) return 'belongs to another user; replace the certificate there';
  try {
    if (found.size > limitBytes) return NOT_A_PAIR;
    parse(await readFile(path, 'utf8'));
    return null;
  } catch {
    return NOT_A_PAIR;
  }
}

async function stateOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${dev}.${ino}.${size}.${mtimeNs}`;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return ABSENT;
    return codeOf(error as Error);
  }
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The text of a file; null if there is none. Throws CertificateFault if it cannot be read. */
async function readSmall(path: string, field: 'cert' | 'key', limitBytes: number): Promise<string | null> {
  try {
    const { size } = await stat(path);
    if (size > limitBytes)
      throw new CertificateFault(field, `${path} has ${size} bytes; the maximum is ${limitBytes}`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof CertificateFault) throw error;
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return null;
    throw new CertificateFault(field, `could not read ${path}: ${reasonOf(error)}`);
  }
}
