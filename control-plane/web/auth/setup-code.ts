/**
 * The code for setting the first password from another machine. It is stored in the data directory and printed at the
 * start, so that the password can only be set by someone who can read either place, and not by anyone who finds the
 * open port. The code is deleted after use.
 */
import { reasonOf } from '../../../shared/errors.ts';
import { timingSafeEqual } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { hashReadableCode, isReadableCode, newReadableCode } from './second-factor/readable-code.ts';

/** Name of the file in the data directory; mode 0600. */
const FILE_NAME = 'setup-code';

/** The setup code of one data directory. */
export class SetupCode {
  /** Path of the file with the code. */
  readonly path: string;
  private readonly logger: Logger;
  private made: Promise<string> | null = null;

  constructor(dataDir: string, logger: Logger) {
    this.path = join(dataDir, FILE_NAME);
    this.logger = logger;
  }

  /** The code; created on first use. */
  value(): Promise<string> {
    return (this.made ??= this.readOrMake());
  }

  /** Whether `given` is the code, in any letter case, with or without hyphens. */
  async matches(given: string): Promise<boolean> {
    return timingSafeEqual(hashReadableCode(given), hashReadableCode(await this.value()));
  }

  /** Whether a code is pending. */
  async isPending(): Promise<boolean> {
    return this.made !== null || (await this.readKept()) !== null;
  }

  /** Removes the code, including the file. */
  async remove(): Promise<void> {
    this.made = null;
    await rm(this.path, { force: true });
  }

  private async readOrMake(): Promise<string> {
    const kept = await this.readKept();
    if (kept !== null) return kept;
    const code = newReadableCode();
    try {
      await writeDurably(this.path, Buffer.from(`${code}\n`));
    } catch (error) {
      // The code stays valid until Weir stops: a full disk must not prevent setting a password.
      const reason = reasonOf(error);
      this.logger.warn('could not store the setup code: it changes at the next start', { reason });
    }
    return code;
  }

  /** The code on disk; null if there is none, it is damaged, or others could have read it. */
  private async readKept(): Promise<string | null> {
    try {
      if (((await stat(this.path)).mode & 0o077) !== 0) return null;
      const text = (await readFile(this.path, 'utf8')).trim();
      return isReadableCode(text) ? text : null;
    } catch {
      return null;
    }
  }
}
