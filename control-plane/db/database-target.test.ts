import { describe, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import { OwnProcess } from '../../test/support/weir/weir-process.ts';
import {
  connectToFirst,
  embeddedTarget,
  fromSentTarget,
  parseDatabaseUrls,
  toSentTarget,
} from './database-target.ts';
import { runningServerAddress } from './running-postgres.ts';

const ADDRESS = { host: '/run/weir', port: 5432, user: 'weir', password: 'secret', database: 'weir' };
const URLS =
  'postgres://a:secret@192.0.2.1/weir?sslmode=require, postgres://b@192.0.2.2/weir?sslpassword=secret';

describe('parseDatabaseUrls()', () => {
  test('names servers without their passwords', () => {
    const targets = parseDatabaseUrls(URLS);
    expect(targets.map(({ name }) => name)).toEqual([
      'postgres://a@192.0.2.1/weir?sslmode=require',
      'postgres://b@192.0.2.2/weir',
    ]);
    expect(targets.map(({ isOurs }) => isOurs)).toEqual([false, false]);
    expect(parseDatabaseUrls('')).toEqual([]);
  });
});

describe('toSentTarget()', () => {
  test.each([...parseDatabaseUrls(URLS), embeddedTarget(ADDRESS)])(
    'makes plain data of $name, which is the same server for another thread',
    (target) => {
      const received = fromSentTarget(structuredClone(toSentTarget(target)));
      expect(received).toEqual(target);
      const parse = received.config.types!.getTypeParser(pg.types.builtins.INT8, 'text') as (
        text: string,
      ) => unknown;
      expect(parse('7')).toBe(7);
    },
  );
});

describe('connectToFirst()', () => {
  test('refuses a server behind a pooler, and says why', async () => {
    const own = await startTestDatabase();
    const address = runningServerAddress(own.dataDir);
    const folder = mkdtempSync(join(tmpdir(), 'weir-pooler-'));
    chmodSync(folder, 0o777); // As root, the pooler runs as another user.
    const { host, port, user, password, database } = address;
    writeFileSync(
      join(folder, 'pooler.ini'),
      `[databases]
weir = host=${host} port=${String(port)} dbname=${database} user=${user} password=${password}
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_port = 6432
unix_socket_dir = ${folder}
`,
    );
    const ordinaryUser = process.getuid!() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    await using pooler = new OwnProcess('/usr/sbin/pgbouncer', [join(folder, 'pooler.ini')], {
      env: {},
      ...ordinaryUser,
    });
    await pooler.untilOutput(/process up/);
    const [target] = parseDatabaseUrls(
      `postgres://weir@localhost:6432/weir?host=${encodeURIComponent(folder)}`,
    );
    await expect(connectToFirst([target!])).rejects.toThrow(
      'a pooler, such as PgBouncer, stands before PostgreSQL',
    );
    const { client } = await connectToFirst([target!, embeddedTarget(address)]);
    await client.end();
    await pooler.end('SIGTERM');
    rmSync(folder, { recursive: true });
    await own.stop();
  });
});
