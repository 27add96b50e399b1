/** What people see of several nodes that share a database, and when one of them is lost. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectAccessible } from '../support/browser/accessible.ts';
import { DashboardRoom } from '../support/browser/dashboard-room.ts';
import { EVERY_ADDRESS } from '../support/dns/echoing-upstream.ts';
import { makeTempDir, prepareDataDir } from '../support/weir/data-dir.ts';
import type { TempDir } from '../support/weir/data-dir.ts';
import { startSharedDatabase } from '../support/weir/shared-database.ts';
import type { SharedDatabase } from '../support/weir/shared-database.ts';
import { Weir } from '../support/weir/weir-process.ts';
import type { WeirOptions } from '../support/weir/weir-process.ts';

let folder: TempDir;
let database: SharedDatabase;
let room: DashboardRoom;
let other: Weir;

/** A node of the database, with a folder of its own. */
function nodeOf(nodeName: string): WeirOptions {
  const path = join(folder.path, nodeName);
  mkdirSync(path);
  const own = { path, dataDir: join(path, 'data'), remove: () => undefined };
  return { nodeName, room: own, env: { WEIR_DATABASE_URL: database.url } };
}

beforeAll(async () => {
  folder = makeTempDir();
  database = await startSharedDatabase(folder.dataDir);
  await prepareDataDir(join(folder.path, 'prepared'), database.url);
  room = await DashboardRoom.open(nodeOf('core'));
  other = await Weir.start(nodeOf('edge'));
});
afterAll(async () => {
  await other.stop();
  await room.close();
  await database[Symbol.asyncDispose]();
  folder.remove();
});

describe('with two nodes', () => {
  test('the page says that both agree, and names the one that is lost, while DNS goes on', async () => {
    await room.withPage({}, async (page) => {
      await page.goto('./nodes');
      await page.getByText('All 2 nodes run, and answer by the same, newest policy.').waitFor();
      await other.end('SIGKILL');
      // As if the half minute after which a node counts as silent had passed.
      await database.rows(`UPDATE nodes SET last_seen = last_seen - interval '1 minute' WHERE name = 'edge'`);
      await page.getByText('One node is silent: edge.').waitFor();
      await expectAccessible(page);
      expect(await room.ask(['still.example'])).toEqual([EVERY_ADDRESS]);
    });
  });
});
