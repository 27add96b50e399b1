/**
 * `weir set-password`: reads the administrator's password, checks it, and stores its hash. The caller provides the
 * function that stores the hash. A hash in the configuration takes precedence.
 */
import type { LoadedConfig } from '../../config/parse-config.ts';
import { lengthOf, SetupBody } from '../../shared/api/auth-api.ts';
import { weaknessOf } from '../web/auth/accounts/weak-password.ts';
import type { PasswordReader } from './read-password.ts';
import { PromptAborted } from './read-password.ts';
import type { Terminal } from './terminal.ts';

/** Dependencies of the subcommand. */
export interface SetPasswordParts {
  readonly loaded: LoadedConfig;
  readonly reader: PasswordReader;
  readonly terminal: Terminal;
  /** Computes the Argon2id hash of a password. */
  hash(password: string): Promise<string>;
  /** Stores the hash, and ends the administrator's sessions. */
  store(loaded: LoadedConfig, passwordHash: string): Promise<void>;
}

/** Reads the password, checks it and stores its hash; returns the exit status. */
export async function setPassword(parts: SetPasswordParts): Promise<0 | 1> {
  const { loaded, terminal } = parts;
  const password = await askForPassword(parts);
  if (password === undefined) return 1;
  const passwordHash = await parts.hash(password);
  if (loaded.config.auth.admin.password_hash !== '') {
    terminal.err(
      'the configuration sets auth.admin.password_hash, which takes precedence over a stored password',
    );
    terminal.err('to change it, set the following key there, and reload the configuration:');
    terminal.out(`password_hash = "${passwordHash}"`);
    return 1;
  }
  await parts.store(loaded, passwordHash);
  terminal.out(`the password of ${loaded.config.auth.admin.username} is set`);
  return 0;
}

/** Reads a password (twice if it is typed) and checks its strength; prints the reason if it is rejected. */
async function askForPassword({ loaded, reader, terminal }: SetPasswordParts): Promise<string | undefined> {
  try {
    if (reader.interactive) terminal.err('new password (8 to 256 characters):');
    const password = await reader.readLine();
    // Uses the schema of the API's setup, so that both accept the same passwords.
    if (!SetupBody.safeParse({ password }).success) {
      terminal.err(`password rejected: expected 8 to 256 characters, got ${lengthOf(password)}`);
      return undefined;
    }
    const weakness = await weaknessOf(password, loaded.config.auth.admin.username);
    if (weakness !== undefined) {
      terminal.err(`password rejected: ${weakness}`);
      return undefined;
    }
    if (!reader.interactive) return password;
    terminal.err('repeat:');
    if ((await reader.readLine()) === password) return password;
    terminal.err('password rejected: the two entries differ');
  } catch (error) {
    if (!(error instanceof PromptAborted)) throw error;
    terminal.err('nothing was changed: no password was given');
  } finally {
    reader.close();
  }
  return undefined;
}
