/** @needs pgbouncer */
import { expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '../../../test/support/parts/programs.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { OwnProcess, type User } from '../../../test/support/weir/weir-process.ts';
import { embeddedTarget, parseDatabaseUrls } from './database-target.ts';
import { runningServerAddress } from './running-postgres.ts';
import { connectToChosen } from './server-choice.ts';

const SEEN = { load: () => null, path: '' };

test('connectToChosen() refuses a server behind a connection pooler, and reports why', async () => {
  await using stack = new AsyncDisposableStack();
  const own = await startTestDatabase();
  stack.defer(() => own.stop());
  const address = runningServerAddress(own.dataDir);
  const folder = mkdtempSync(join(tmpdir(), 'weir-pooler-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o777); // Needed because the pooler runs as another user if the test runs as root.
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
  const pooler = new OwnProcess(requireProgram('pgbouncer'), [join(folder, 'pooler.ini')], {
    env: {},
    // The pooler runs as the server's user, who is the only one that can enter the directory of the socket.
    ...userOf(host),
  });
  stack.use(pooler);
  await pooler.untilOutput(/process up/);
  const [target] = parseDatabaseUrls(
    `postgres://weir@localhost:6432/weir?host=${encodeURIComponent(folder)}`,
  );
  await expect(connectToChosen([target!], SEEN)).rejects.toThrow('this is a pooler, such as PgBouncer');
  const { client } = await connectToChosen([target!, embeddedTarget(address)], SEEN);
  await client.end();
});

function userOf(folder: string): User | undefined {
  if (process.getuid!() !== 0) return undefined;
  const { uid, gid } = statSync(folder);
  return { uid, gid };
}
