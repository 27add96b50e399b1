/**
 * Stores the administrator's password hash from the command line: in the database that the configuration
 * names, whether or not a server runs on it.
 */
import type { LoadedConfig } from '../../config/parse-config.ts';

/** Puts `passwordHash` where logins look for it. Throws where the database cannot be reached. */
export async function storeAdminPassword(_loaded: LoadedConfig, _passwordHash: string): Promise<void> {
  throw new Error('store the password: not there yet');
}
