/** Makes the data directory for the user that Weir becomes. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Account } from '../accounts/system-users.ts';
import { asAccount } from '../accounts/as-account.ts';
import { makeOwnedFolder } from '../db/postgres/owned-files.ts';

/** Makes a folder that only the account (and root) can enter, and those above it. Throws if the account cannot reach it. */
export function makeFolderFor(path: string, account: Account): void {
  const parent = dirname(path);
  const firstMade = mkdirSync(parent, { recursive: true });
  asAccount(account, () => statSync(`${firstMade ?? parent}/.`));
  makeOwnedFolder(path, { ...account, isSelf: false });
}
