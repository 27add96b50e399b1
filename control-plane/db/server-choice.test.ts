import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import { OwnProcess } from '../../test/support/weir/weir-process.ts';
import {
  type ReplicatedDatabase,
  startReplicatedDatabase,
} from '../../test/support/weir/replicated-database.ts';
import { type DatabaseTarget, embeddedTarget, parseDatabaseUrls } from './database-target.ts';
import { runningServerAddress } from './running-postgres.ts';
import { SeenServer } from './seen-server.ts';
import { connectToChosen, keepComparing } from './server-choice.ts';

const SEEN = { recall: () => null, path: '' };

describe('connectToChosen()', () => {
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
    await expect(connectToChosen([target!], SEEN)).rejects.toThrow(
      'a pooler, such as PgBouncer, stands before PostgreSQL',
    );
    const { client } = await connectToChosen([target!, embeddedTarget(address)], SEEN);
    await client.end();
    await pooler.end('SIGTERM');
    rmSync(folder, { recursive: true });
    await own.stop();
  });
});

describe('with a primary whose place its standby has taken, and that goes on', () => {
  let folder: string;
  let servers: ReplicatedDatabase;
  let first: DatabaseTarget;
  let second: DatabaseTarget;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weir-servers-'));
    chmodSync(folder, 0o755);
    servers = await startReplicatedDatabase(folder);
    [first, second] = parseDatabaseUrls(servers.url) as [DatabaseTarget, DatabaseTarget];
  });
  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  /** The name of the server that is chosen with a memory. */
  async function chosen(targets: readonly DatabaseTarget[], seen: SeenServer): Promise<string> {
    const { target, client, standing } = await connectToChosen(targets, seen);
    await client.end();
    await seen.note(standing);
    return target.name;
  }

  test('keepComparing() ends when the place is taken, connectToChosen() then prefers the other one', async () => {
    const seen = new SeenServer(folder, new MemoryLogger());
    expect(await chosen([second, first], seen)).toBe(first.name);
    const client = (await connectToChosen([first], seen)).client;
    const standing = seen.recall();
    const comparing = keepComparing({
      ...{ targets: [first, second], inUse: first, seen, pauseMs: 10 },
      standing: () => Promise.resolve(standing),
      ended: new AbortController().signal,
    });
    const ended = expect(comparing).rejects.toThrow(`${second.name} has taken its place`);
    await client.end();
    await servers.promote();
    await ended;
    const empty = new SeenServer(join(folder, 'none'), new MemoryLogger());
    const { client: newest, target } = await connectToChosen([first, second], empty);
    await newest.end();
    expect(target.name).toBe(second.name);
  });

  test('connectToChosen() refuses the first one to who has seen the second, until that is forgotten', async () => {
    const seen = new SeenServer(folder, new MemoryLogger());
    await expect(connectToChosen([first], seen)).rejects.toThrow(
      /an old primary: it is on timeline 1, and this node has seen timeline 2; .* remove .*database-seen\.json/,
    );
    rmSync(seen.path);
    expect(await chosen([first], seen)).toBe(first.name);
  });
});
