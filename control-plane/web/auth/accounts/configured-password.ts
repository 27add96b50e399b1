/**
 * The password hash in the configuration file, if set. It takes precedence over the hash in the database, so a change
 * of the password must be written to that file.
 */
import { withLocal } from '../../../../config/local-config.ts';
import type { Config } from '../../../../config/schema.ts';
import { ApiError, conflict } from '../../../api/api-error.ts';
import type { ConfigFile, ReadConfigFile } from '../../../policy/settings/config-file.ts';

const HASH = 'auth.admin.password_hash';

/** Sources of the hash. */
export interface ConfiguredPasswordParts {
  readonly config: Config;
  /** Null = no configuration file. */
  readonly file: ConfigFile | null;
}

/** Stores the configured hash and replaces it in the file. One per node. */
export class ConfiguredPassword {
  private current: string;
  private readonly file: ConfigFile | null;
  private readonly note: (hash: string) => void;

  /** `note` is called with each hash that is written to the file. */
  constructor({ config, file }: ConfiguredPasswordParts, note: (hash: string) => void = () => undefined) {
    this.note = note;
    this.current = config.auth.admin.password_hash;
    this.file = file;
  }

  /** The current hash; '' if the configuration sets none. */
  get hash(): string {
    return this.current;
  }

  /** Writes a new hash to the file and uses it from now on; 409 if the file cannot be changed. */
  async replace(hash: string): Promise<void> {
    const { file } = this;
    if (file === null) throw notInFile();
    await file.inTurn(() => this.write(file, hash));
  }

  /** Uses a hash that was edited in the file. */
  take(hash: string): void {
    this.current = hash;
  }

  private async write(file: ConfigFile, hash: string): Promise<void> {
    if (hash === this.current) return;
    const read = await this.read(file);
    if (withLocal(read.own, read.local)[HASH] !== this.current) throw notInFile();
    await file.write(read, { [HASH]: hash });
    this.current = hash;
    this.note(hash);
  }

  /** Errors in the file are not errors of the request. */
  private async read(file: ConfigFile): Promise<ReadConfigFile> {
    try {
      return await file.read();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      throw conflict(['the password was not changed', ...faultsIn(error)].join('; '));
    }
  }
}

function faultsIn({ fields = [] }: ApiError): string[] {
  return fields.map(({ path, message }) => `${path} ${message}`);
}

function notInFile(): Error {
  return conflict(
    'the password cannot be changed here: auth.admin.password_hash is set by an environment variable, ' +
      'or the configuration file was changed after Weir read it; change the password there',
  );
}
