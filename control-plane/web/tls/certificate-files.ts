/**
 * The two files of the web certificate. Both are replaced or neither: a third file with the whole new pair is written
 * first, and the next start after a crash completes the replacement from it.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lstat, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { syncFolder, writeDurably } from '../../host/files/durable-file.ts';
import { CertificateFault, readPair } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';

/** Largest file that is read; a chain of ten certificates has less. */
export const MAX_CERT_BYTES = 64 * 1024;
/** Largest file of a key. */
export const MAX_KEY_BYTES = 16 * 1024;

/** The files cannot be replaced. */
export class CertificateFilesError extends Error {
  override readonly name = 'CertificateFilesError';
  /** Whether the files are links, belong to another user, or contain something else than a certificate and its key. */
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

/** Certificate and key on disk. One at a time may change them. */
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
    if (cert === null) throw new CertificateFault('cert', `there is no file ${this.paths.cert}`);
    if (key === null) throw new CertificateFault('key', `there is no file ${this.paths.key}`);
    return readPair(cert, key);
  }

  /** Whether both files exist. */
  async exist(): Promise<boolean> {
    const states = await Promise.all([stateOf(this.paths.cert), stateOf(this.paths.key)]);
    return !states.includes(ABSENT);
  }

  /** Differs after any change of a file, or of the target of a symbolic link. */
  async fingerprint(): Promise<string> {
    return (await Promise.all([stateOf(this.paths.cert), stateOf(this.paths.key)])).join(' ');
  }

  /** Replaces both files, of mode 0600. Throws CertificateFilesError, and then the old ones are still there. */
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
        await this.putBack(keyBefore);
        throw error;
      }
      await this.forgetPending();
    } catch (error) {
      throw new CertificateFilesError(`store the certificate: ${reasonOf(error)}`, false, error);
    }
  }

  /**
   * Writes the pair beside the files and removes it again, which shows that `store()` may replace them and that the disk
   * has room. Throws CertificateFilesError as `store()` does.
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
      throw new CertificateFilesError(`store the certificate: ${reasonOf(error)}`, false, error);
    }
  }

  /** Completes a replacement that a crash interrupted. Where the files are usable as they are, they stay. */
  async recover(): Promise<void> {
    const pending = await readSmall(this.pendingPath, 'key', MAX_CERT_BYTES + MAX_KEY_BYTES);
    if (pending === null) return;
    if (!(await this.isUsable())) await this.writeBoth(readPair(pending, pending));
    await this.forgetPending();
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

  /** After the key was written and the certificate could not be. Where this fails too, the pending file is left. */
  private async putBack(keyBefore: Buffer | null): Promise<void> {
    if (keyBefore === null) await rm(this.paths.key, { force: true });
    else await writeDurably(this.paths.key, keyBefore);
    await this.forgetPending();
  }

  private async writeBoth(pair: CertificatePair): Promise<void> {
    await writeDurably(this.paths.key, Buffer.from(pair.key));
    await writeDurably(this.paths.cert, Buffer.from(pair.cert));
  }

  /** Files that Weir cannot have written stay, whatever the configuration names. */
  private async refuseForeign(): Promise<void> {
    const files = [
      [this.paths.cert, MAX_CERT_BYTES, (text: string) => new X509Certificate(text)],
      [this.paths.key, MAX_KEY_BYTES, (text: string) => createPrivateKey(text)],
    ] as const;
    for (const [path, limitBytes, parse] of files) {
      const reason = await whyForeign(path, limitBytes, parse);
      if (reason !== null) throw new CertificateFilesError(`${path} ${reason}`, true);
    }
  }

  private async forgetPending(): Promise<void> {
    await rm(this.pendingPath, { force: true });
    await syncFolder(dirname(this.pendingPath));
  }
}

const ABSENT = 'absent';
const NOT_A_PAIR = 'does not hold what Weir writes there; move it away first';

/** Reason why Weir did not write the file of a path; null if it may have, or if there is none. */
async function whyForeign(
  path: string,
  limitBytes: number,
  parse: (text: string) => unknown,
): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  // Writing over a directory fails.
  if (found === null || found.isDirectory()) return null;
  // Such as certbot, which would not find its file again.
  if (found.isSymbolicLink()) return 'is a link that another program keeps; replace the certificate there';
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
      throw new CertificateFault(field, `${path} has ${size} bytes; ${limitBytes} are the most`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof CertificateFault) throw error;
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return null;
    throw new CertificateFault(field, `read ${path}: ${reasonOf(error)}`);
  }
}
