import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asOwner } from '../../../../test/support/parts/as-owner.ts';
import { CHEAP_HASHING } from '../../../../test/support/parts/cheap-hashing.ts';
import { TestClock } from '../../../../test/support/parts/test-clock.ts';
import { testConfig } from '../../../../test/support/parts/test-config.ts';
import { type TestDatabase, startTestDatabase } from '../../../../test/support/parts/test-database.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Database } from '../../../storage/db/database.ts';
import { Accounts } from './accounts.ts';
import { AdminAccount } from './admin-account.ts';
import { ConfigFile } from '../../../policy/settings/config-file.ts';
import { ConfiguredPassword } from './configured-password.ts';
import { verifyPassword } from './password.ts';

const PASSWORD = 'correct horse';

let own: TestDatabase;
let hash: string;

beforeAll(async () => {
  own = await startTestDatabase();
  hash = await CHEAP_HASHING.hash(PASSWORD);
});
beforeEach(() => asOwner(own.database, 'TRUNCATE admin_credential'));
afterAll(() => own.stop());

/** An account; `file` is a configuration file with the password. */
function account({
  database = own.database,
  file,
}: { database?: Database; file?: string } = {}): AdminAccount {
  const toml = `auth.admin.username = "root"\n${file === undefined ? '' : `auth.admin.password_hash = "${hash}"`}`;
  if (file !== undefined) writeFileSync(file, `${toml}\n`);
  const config = testConfig(toml);
  const configured = new ConfiguredPassword({
    config,
    file: file === undefined ? null : new ConfigFile(file, own.dataDir),
  });
  return new AdminAccount({
    ...{ config: () => config, configured, database, clock: new TestClock() },
    hashing: CHEAP_HASHING,
  });
}

/** A database on which every statement fails. */
function failing(error: Error): Database {
  return Object.assign(Object.create(own.database) as Database, { query: () => Promise.reject(error) });
}

/** Whether this name and password log in to the account. */
async function matches(one: AdminAccount, username: string, password: string): Promise<boolean> {
  return (await new Accounts(one, own.database, CHEAP_HASHING).prove(username, password)) !== null;
}

const away = (): Database => failing(new DatabaseUnavailable('away'));
const configFile = (): string => join(own.dataDir, 'test.toml');

describe('AdminAccount, the configured administrator,', () => {
  test('setUp() sets only the first password if several callers set a password at the same time', async () => {
    const one = account();
    expect(await one.isConfigured()).toBe(false);
    const results = await Promise.allSettled([1, 2, 3].map((n) => account().setUp(`${PASSWORD} ${n}`, null)));
    const lost = results.filter(({ status }) => status === 'rejected');
    expect(lost).toHaveLength(2);
    expect(lost[0]).toMatchObject({ reason: { status: 403 } });
    expect(await one.isConfigured()).toBe(true);
    await expect(one.setUp(PASSWORD, null)).rejects.toMatchObject({ status: 403 });
    const winner = results.findIndex(({ status }) => status === 'fulfilled') + 1;
    expect(await matches(one, 'root', `${PASSWORD} ${winner}`)).toBe(true);
  });

  test('has a hash that matches only the configured user name with the password', async () => {
    const one = account();
    expect(await matches(one, 'root', PASSWORD)).toBe(false);
    await one.setUp(PASSWORD, null);
    expect(await matches(one, 'root', PASSWORD)).toBe(true);
    expect(await matches(one, 'admin', PASSWORD)).toBe(false);
    expect(await matches(one, 'root', `${PASSWORD}!`)).toBe(false);
  });

  test('uses the password in the configuration rather than the password in the database', async () => {
    await account().setUp('of the database', null);
    const one = account({ file: configFile() });
    expect([await matches(one, 'root', PASSWORD), await matches(one, 'root', 'of the database')]).toEqual([
      true,
      false,
    ]);
    await expect(one.setUp('another', null)).rejects.toMatchObject({ status: 403 });
  });

  test('isConfigured() needs no database with a configured password, and no second query once it was true', async () => {
    expect(await account({ database: away(), file: configFile() }).isConfigured()).toBe(true);
    await expect(account({ database: away() }).isConfigured()).rejects.toThrow(DatabaseUnavailable);
    const one = account();
    await one.setUp(PASSWORD, null);
    await asOwner(own.database, 'TRUNCATE admin_credential');
    expect(await one.isConfigured()).toBe(true);
  });

  test('isProbablyConfigured() uses the guess only while the database is unreachable', async () => {
    const one = account({ database: away() });
    expect(await one.isProbablyConfigured(() => Promise.resolve(true))).toBe(true);
    expect(await one.isProbablyConfigured(() => Promise.resolve(false))).toBe(false);
    expect(await account().isProbablyConfigured(() => Promise.resolve(true))).toBe(false);
    const broken = failing(new Error('bug'));
    await expect(
      account({ database: broken }).isProbablyConfigured(() => Promise.resolve(true)),
    ).rejects.toThrow('bug');
  });

  test('replacePassword() writes to the place that stores the password, and does nothing if the related change fails', async () => {
    const inDatabase = account();
    await inDatabase.setUp('old', null);
    await expect(
      inDatabase.replacePassword('new', () => Promise.reject(new Error('sessions'))),
    ).rejects.toThrow('sessions');
    expect(await matches(inDatabase, 'root', 'old')).toBe(true);
    await inDatabase.replacePassword('new', () => Promise.resolve());
    expect([await matches(inDatabase, 'root', 'old'), await matches(inDatabase, 'root', 'new')]).toEqual([
      false,
      true,
    ]);
    const inFile = account({ file: configFile() });
    await inFile.replacePassword('newest', () => Promise.resolve());
    expect(await matches(inFile, 'root', 'newest')).toBe(true);
    const [, written] = /password_hash = "([^"]+)"/.exec(readFileSync(configFile(), 'utf8'))!;
    expect(await verifyPassword(written!, 'newest')).toBe(true);
    expect(await matches(inDatabase, 'root', 'new')).toBe(true);
  });
});
