/** A full copy of a running database, its restore to an empty data directory, and cases that are rejected. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { lockDataDir } from '../data-dir-lock.ts';
import { startDatabase } from '../database.ts';
import type { Database } from '../database.ts';
import { runningServerAddress } from '../running-postgres.ts';
import { makeFullCopy } from './make-full-copy.ts';
import { restoreFullCopy } from './restore-full-copy.ts';

let folder: string;
let own: { database: Database; close: () => Promise<void> };
const at = (name: string): string => join(folder, name);
const report = (): undefined => undefined;

/** Opens the database of a Weir server on a data directory. */
async function databaseOf(dataDir: string): Promise<typeof own> {
  const lock = lockDataDir(dataDir);
  const database = startDatabase({ urls: [], ownerUrls: [], lock, logger: new MemoryLogger() });
  await database.whenUp();
  return { database, close: () => database.close().finally(() => lock.release()) };
}

async function copyTo(file: string, onTable: (client: pg.Client) => unknown = report): Promise<number> {
  const client = new pg.Client(runningServerAddress(at('own')));
  client.on('error', () => undefined);
  await client.connect();
  const options = { client, dataDir: at('own'), file, weir: '1.2.3', report: () => void onTable(client) };
  return makeFullCopy(options).finally(() => client.end().catch(() => undefined));
}

const restoreTo = (dataDir: string, file: string) =>
  restoreFullCopy({ file, dataDir, logger: new MemoryLogger(), report });

beforeAll(async () => {
  folder = makeTempDir();
  own = await databaseOf(at('own'));
  await own.database.query(`INSERT INTO groups (name) VALUES ('Kids')`);
  await own.database.query(
    `INSERT INTO managed_domains (name, domain, action)
     SELECT 'n', 'd' || n || '.example', 'deny' FROM generate_series(1, 20000) n`,
  );
  await mkdir(at('own/tls'));
  await writeFile(at('own/tls/cert.pem'), 'certificate');
});
afterAll(async () => {
  await own.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a full copy', () => {
  test('contains a consistent state, and restores rows, sequences and files in an empty directory', async () => {
    let isFirst = true;
    await copyTo(at('copy'), () => {
      // Makes a concurrent change, which must not be in the copy.
      if (isFirst) void own.database.query(`INSERT INTO groups (name) VALUES ('Late')`);
      isFirst = false;
    });
    await mkdir(at('new'), { mode: 0o755 });
    expect(await restoreTo(at('new'), at('copy'))).toMatchObject({ weir: '1.2.3' });
    const restored = await databaseOf(at('new'));
    try {
      const read = (text: string) => restored.database.query(text).then(({ rows }) => rows);
      expect(await read('SELECT name FROM groups ORDER BY id')).toEqual([
        { name: 'Default' },
        { name: 'Kids' },
      ]);
      expect(await read('SELECT count(*)::integer AS n FROM managed_domains')).toEqual([{ n: 20_000 }]);
      await read(`INSERT INTO groups (name) VALUES ('Next')`);
      const secrets = await Promise.all(
        [own, restored].map(({ database }) => database.query('SELECT secret FROM cluster_secret')),
      );
      expect(secrets[0]!.rows).toEqual(secrets[1]!.rows);
    } finally {
      await restored.close();
    }
    expect(await readFile(at('new/tls/cert.pem'), 'utf8')).toBe('certificate');
    await expect(restoreTo(at('new'), at('copy'))).rejects.toThrow('move');
  });

  test('is refused if it was truncated or changed, and the target directory stays empty', async () => {
    await copyTo(at('whole'));
    const bytes = await readFile(at('whole'));
    const changed = Buffer.from(bytes);
    changed[bytes.length >> 1]! ^= 1;
    const cases = [
      bytes.subarray(0, bytes.length >> 1),
      changed,
      Buffer.concat([bytes, bytes]),
      Buffer.alloc(0),
    ];
    for (const [index, content] of cases.entries()) {
      await writeFile(at('bad'), content);
      await mkdir(at(`refused${String(index)}`), { mode: 0o755 });
      await expect(restoreTo(at(`refused${String(index)}`), at('bad'))).rejects.toThrow(
        /truncated|damaged|not a full copy/,
      );
      expect(await readdir(at(`refused${String(index)}`))).toEqual([]);
    }
  });

  test('leaves no file if the database becomes unavailable while the copy is made', async () => {
    const gone = copyTo(at('gone'), (client) => {
      const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
      connection.stream.destroy();
    });
    await expect(gone).rejects.toThrow();
    expect((await readdir(folder)).filter((name) => name.startsWith('gone'))).toEqual([]);
  });

  test('leaves no file if the disk is full', async () => {
    await expect(copyTo('/dev/full/copy')).rejects.toThrow();
    expect(existsSync('/dev/full.tmp')).toBe(false);
  });
});
