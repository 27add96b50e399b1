/**
 * The password hash that the configuration file sets, if it does. It wins over the one in the database, so a change of
 * the password must be written to that file.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { inFileTurn } from '../../../config/file-turns.ts';
import { replacePasswordHash } from '../../../config/replace-hash.ts';
import type { LoadedConfig } from '../../../config/parse-config.ts';
import { rewriteFile } from '../../../config/rewrite-file.ts';
import { conflict } from '../../api/api-error.ts';

/** Holds the configured hash and replaces it in the file. One per node. */
export class ConfiguredPassword {
  private current: string;
  private readonly path: string | null;
  private readonly note: (hash: string) => void;

  /** `note` is told of each hash that is written into the file. */
  constructor(
    { config, file }: Pick<LoadedConfig, 'config' | 'file'>,
    note: (hash: string) => void = () => undefined,
  ) {
    this.note = note;
    this.current = config.auth.admin.password_hash;
    this.path = file === undefined ? null : resolve(file);
  }

  /** The hash in force; '' if the configuration sets none. */
  get hash(): string {
    return this.current;
  }

  /** Writes another hash into the file and uses it from now on; 409 if the file cannot be changed. */
  replace(hash: string): Promise<void> {
    return inFileTurn(this.path ?? '', () => this.write(hash));
  }

  /** Uses the hash that a person has put into the file. */
  take(hash: string): void {
    this.current = hash;
  }

  private async write(hash: string): Promise<void> {
    if (hash === this.current) return;
    if (this.path === null) throw notInFile();
    try {
      const changed = replacePasswordHash(await readFile(this.path, 'utf8'), this.current, hash);
      if (changed === null) throw notInFile();
      await rewriteFile(this.path, changed);
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) throw error;
      throw conflict(`the configuration file sets the password and cannot be written: ${error.message}`);
    }
    this.current = hash;
    this.note(hash);
  }
}

function notInFile(): Error {
  return conflict(
    'the password is set by auth.admin.password_hash in the environment, or the file was changed since Weir read it; change it there',
  );
}
