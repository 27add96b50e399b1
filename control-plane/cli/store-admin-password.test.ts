import { afterEach, describe, expect, test } from '@jest/globals';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asOwner } from '../../test/support/parts/as-owner.ts';
import { parseConfig } from '../../config/parse-config.ts';
import type { LoadedConfig } from '../../config/parse-config.ts';
import { makeTempDir, startTestDatabase } from '../../test/support/parts/test-database.ts';
import { readHash } from '../web/auth/accounts/credential-store.ts';
import type { Queryable } from '../storage/db/queryable.ts';
import { serversOn } from '../storage/db/postgres/postgres-process.ts';
import { storeAdminPassword } from './store-admin-password.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function makeDataDir(): string {
  const root = makeTempDir();
  roots.push(root);
  return join(root, 'data');
}

function loadedOn(dataDir: string): LoadedConfig {
  const text = `server.data_dir = ${JSON.stringify(dataDir)}\n`;
  const result = parseConfig({ file: { name: 'weir.toml', text }, env: {} });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.value;
}

async function addSession(db: Queryable, userId: number): Promise<void> {
  await db.query(
    `INSERT INTO sessions (secret_hash, user_id, expires_at) VALUES ($1, $2, now() + interval '1 day')`,
    [Buffer.alloc(32, userId), userId],
  );
}

async function usersOfSessions(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>('SELECT user_id AS id FROM sessions ORDER BY user_id');
  return rows.map(({ id }) => id);
}

describe('storeAdminPassword() without a running server', () => {
  test('creates the database, stores the hash in it, and stops the database again', async () => {
    const dataDir = makeDataDir();
    await storeAdminPassword(loadedOn(dataDir), 'the hash');
    expect(serversOn(join(dataDir, 'postgres', 'cluster'))).toEqual([]);
    const later = await startTestDatabase(dataDir);
    expect(await readHash(later.database)).toBe('the hash');
    await later.stop();
  });
});

describe('storeAdminPassword() with a running server', () => {
  test('changes the password and ends the sessions of the administrator only', async () => {
    const running = await startTestDatabase(makeDataDir());
    const { database, dataDir } = running;
    await database.query(`INSERT INTO users (id, username, role) VALUES (2, 'somebody', 'admin')`);
    await addSession(database, 1);
    await addSession(database, 2);
    writeFileSync(join(dataDir, 'setup-code'), 'unused\n');
    for (const hash of ['first hash', 'second hash']) {
      await storeAdminPassword(loadedOn(dataDir), hash);
      expect(await readHash(database)).toBe(hash);
    }
    expect(await usersOfSessions(database)).toEqual([2]);
    expect(existsSync(join(dataDir, 'setup-code'))).toBe(false);
    expect(database.status().state).toBe('up');
    await running.stop();
  });

  test('stores nothing if it cannot end the sessions', async () => {
    const running = await startTestDatabase(makeDataDir());
    const { database, dataDir } = running;
    await asOwner(database, 'ALTER TABLE sessions RENAME TO sessions_elsewhere');
    await expect(storeAdminPassword(loadedOn(dataDir), 'the hash')).rejects.toThrow('"sessions"');
    expect(await readHash(database)).toBeNull();
    await running.stop();
  });
});
