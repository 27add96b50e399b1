/** A node whose connection string names a primary and its standby, which takes its place while nothing fences the primary. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { STARTED_ONCE } from '../../support/parts/made-cluster.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, type TempDir } from '../../support/weir/data-dir.ts';
import { type ReplicatedDatabase, startReplicatedDatabase } from '../../support/weir/replicated-database.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const LOOK_MS = 100;
const BLOCKED = '0.0.0.0';
const DOMAINS = 'SELECT domain FROM managed_domains ORDER BY domain';

let folder: TempDir;
let database: ReplicatedDatabase;
let weir: Weir;
let client: UdpClient;

beforeAll(async () => {
  folder = makeTempDir();
  database = await startReplicatedDatabase(join(folder.path, 'servers'), { content: STARTED_ONCE });
  weir = await startNode('node');
  client = await UdpClient.open(weir.dnsPort);
});
afterAll(async () => {
  client.close();
  await weir.stop();
  await database[Symbol.asyncDispose]();
  folder.remove();
});

function startNode(name: string): Promise<Weir> {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  return Weir.start({
    ...{ nodeName: name, room: { path, dataDir: join(path, 'data'), remove: () => undefined } },
    env: { WEIR_DATABASE_URL: database.url },
  });
}

/** Blocks a name once the node has a database. */
async function block(domain: string): Promise<void> {
  const api = await weir.api();
  await until(async () => (await api.call('POST', '/managed-domains', { domain })).status === 201, LOOK_MS);
}

const domainsOf = (rows: { domain: string }[]): string[] => rows.map(({ domain }) => domain);

describe('a node with an unfenced old primary', () => {
  test('goes to the server that has taken its place, and stays there where all its connections end', async () => {
    await block('both.example');
    await database.promote();
    await weir.untilOutput(/has taken its place/);
    await block('one.example');
    await database.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weir'`,
    );
    await block('two.example');
    expect(domainsOf(await database.rows(DOMAINS))).toEqual(['both.example', 'one.example', 'two.example']);
    expect(domainsOf(await database.rowsOfFirst(DOMAINS))).toEqual(['both.example']);
  });

  test('begins at the right one where it has seen no other', async () => {
    const fresh = await startNode('fresh');
    using asker = await UdpClient.open(fresh.dnsPort);
    await until(async () => (await asker.ask('two.example', 'A')).data[0] === BLOCKED, LOOK_MS);
    await fresh.stop();
  });

  test('uses no server rather than the old one, says so, and answers by its policy; not so once that is wished', async () => {
    await database.killPromoted();
    await weir.untilOutput(
      /an old primary: it is on timeline 1, and this node has seen timeline 2; .* remove/,
    );
    const { checks } = await weir.untilHealth(({ checks: { database: check } }) => check.status !== 'ok');
    expect(checks.dns).toMatchObject({ status: 'ok' });
    expect((await (await weir.api()).call('POST', '/managed-domains', { domain: 'no.example' })).status).toBe(
      503,
    );
    expect((await client.ask('two.example', 'A')).data).toEqual([BLOCKED]);
    rmSync(join(folder.path, 'node', 'data', 'database-seen.json'));
    await block('back.example');
    expect(domainsOf(await database.rowsOfFirst(DOMAINS))).toEqual(['back.example', 'both.example']);
  });
});
