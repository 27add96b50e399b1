/**
 * A node whose connection string has a primary and its standby. The standby is promoted while the primary keeps
 * running.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Health } from '../../../shared/api/system-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import { NodesWithStandby } from '../../support/weir/nodes-with-standby.ts';
import type { ReplicatedDatabase } from '../../support/weir/replicated-database.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const POLL_MS = 100;
const BLOCKED = '0.0.0.0';
const DOMAINS = 'SELECT domain FROM managed_domains ORDER BY domain';

let nodes: NodesWithStandby;
let database: ReplicatedDatabase;
let weir: Weir;
let client: UdpClient;

beforeAll(async () => {
  nodes = await NodesWithStandby.open();
  ({ database } = nodes);
  weir = await nodes.start('node');
  client = await UdpClient.open(weir.dnsPort);
});
afterAll(async () => {
  client.close();
  await nodes[Symbol.asyncDispose]();
});

/** Blocks a name once the node has a database. */
async function block(domain: string): Promise<void> {
  const api = await weir.api();
  // A 503 does not show whether the rule is stored; if the rule is stored, the retry reports that it exists.
  await until(
    `${domain} to be stored as a rule`,
    () => api.call('POST', '/managed-domains', { domain }),
    ({ status }) => [201, 409].includes(status),
    { pauseMs: POLL_MS },
  );
}

const domainsOf = (rows: { domain: string }[]): string[] => rows.map(({ domain }) => domain);

describe('a node with an old primary database that still accepts changes', () => {
  test('switches to the promoted server, and keeps using it even if all its connections end', async () => {
    await block('both.example');
    await database.promote();
    await weir.untilOutput(/it was replaced by/);
    const api = await weir.api();
    await until(
      'health to name the old primary',
      () => api.call<Health>('GET', '/health'),
      ({ body }) => /is an old primary that still accepts changes/.test(body.checks.database.detail ?? ''),
      { pauseMs: POLL_MS },
    );
    await block('one.example');
    await database.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weir'`,
    );
    await block('two.example');
    expect(domainsOf(await database.rows(DOMAINS))).toEqual(['both.example', 'one.example', 'two.example']);
    expect(domainsOf(await database.rowsOfFirst(DOMAINS))).toEqual(['both.example']);
  });

  test('uses the promoted server if it starts without having seen either server', async () => {
    const fresh = await nodes.start('fresh');
    using asker = await UdpClient.open(fresh.dnsPort);
    await until(
      'the new node to block two.example',
      async () => (await asker.ask('two.example', 'A')).data,
      ([address]) => address === BLOCKED,
      { pauseMs: POLL_MS },
    );
    await fresh.stop();
  });

  test('rejects the old primary, reports it, and answers by its policy until the stored timeline is deleted', async () => {
    await database.killPromoted();
    await weir.untilOutput(
      /an old primary: it is on timeline 1, and this node has seen timeline 2; .* delete/,
    );
    const { checks } = await weir.untilHealth(({ checks: { database: check } }) => check.status !== 'ok');
    expect(checks.dns).toMatchObject({ status: 'ok' });
    expect((await (await weir.api()).call('POST', '/managed-domains', { domain: 'no.example' })).status).toBe(
      503,
    );
    expect((await client.ask('two.example', 'A')).data).toEqual([BLOCKED]);
    rmSync(join(weir.tempDir.dataDir, 'database-seen.json'));
    await block('back.example');
    expect(domainsOf(await database.rowsOfFirst(DOMAINS))).toEqual(['back.example', 'both.example']);
  });
});
