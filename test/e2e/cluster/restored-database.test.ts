/** Two nodes whose database is restored from a backup while they run, as with `dropdb`, `createdb` and `pg_restore`. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { ClusterNode } from '../../../shared/api/nodes-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { EVERY_ADDRESS } from '../../support/dns/echoing-upstream.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
const POLL_MS = 50;
/** Puts a database into a state as in the middle of a restore: the tables and some rows exist. */
const HALF = `ALTER TABLE managed_domains DROP CONSTRAINT managed_domains_group_id_fkey; TRUNCATE managed_domains;
  TRUNCATE table_versions; TRUNCATE config_values`;

let cluster: NodeCluster;
let nodes: readonly Weir[];
let clients: readonly UdpClient[];
let api: ApiClient;
let name: string;

beforeAll(async () => {
  cluster = await NodeCluster.open();
  name = new URL(cluster.database.url).pathname.slice(1);
  nodes = [await cluster.start('here'), await cluster.start('there')];
  clients = await Promise.all(nodes.map(({ dnsPort }) => UdpClient.open(dnsPort)));
  api = await nodes[0]!.api();
});
afterAll(async () => {
  for (const client of clients) client.close();
  await cluster.close();
});

/** Runs statements one by one, each in its own session, in a database other than that of the nodes. */
async function run(database: string, ...statements: readonly string[]): Promise<void> {
  const url = new URL(cluster.database.url);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Copies a database after terminating its sessions. */
const copy = (from: string, to: string): readonly string[] => [
  `ALTER DATABASE ${from} ALLOW_CONNECTIONS false`,
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`,
  `CREATE DATABASE ${to} TEMPLATE ${from}`,
  `ALTER DATABASE ${from} ALLOW_CONNECTIONS true`,
];

/** Replaces the nodes' database with a copy. */
const replaceBy = (other: string): Promise<void> =>
  run('template1', `DROP DATABASE ${name} WITH (FORCE)`, `CREATE DATABASE ${name} TEMPLATE ${other}`);

const block = async (domain: string): Promise<number> =>
  (await api.expect<{ id: number }>(201, 'POST', '/managed-domains', { domain })).id;

/** Answer of each node. */
const answersOf = (domain: string): Promise<unknown[]> =>
  Promise.all(clients.map(async (client) => (await client.ask(domain, 'A')).data[0]));

const untilAnswered = (domain: string, wanted: string): Promise<unknown> =>
  until(
    `${wanted} as the answer of each node to ${domain}`,
    () => answersOf(domain),
    (answers) => answers.every((answer) => answer === wanted),
    { pauseMs: POLL_MS },
  );

const untilOutput = (pattern: RegExp): Promise<unknown> =>
  Promise.all(nodes.map((node) => node.untilOutput(pattern)));

const revisions = (): Promise<Revision[]> => api.expect<Revision[]>(200, 'GET', '/revisions');

describe('a database that is restored under running nodes', () => {
  test('is not used while it is empty or incomplete, and nodes answer by their last policy', async () => {
    await block('always.example');
    const gone = await block('restored.example');
    await run('template1', ...copy(name, 'earlier'), ...copy('earlier', 'half'));
    await run('half', HALF);
    // A 503 does not show whether the rule was deleted. If it was, the retry reports that the rule does not exist.
    await until(
      'the rule to be deleted',
      () => api.call('DELETE', `/managed-domains/${String(gone)}`),
      ({ status }) => [204, 404].includes(status),
      { pauseMs: POLL_MS },
    );
    // After this, each node has seen a revision that the restored database lacks.
    await waited('later.example');
    await untilAnswered('later.example', BLOCKED);
    await replaceBy('template0');
    await untilOutput(/the database is empty/);
    await replaceBy('half');
    await untilOutput(/a restore is not complete/);
    expect((await api.call('POST', '/managed-domains', { domain: 'no.example' })).status).toBe(503);
    for (const domain of ['always.example', 'later.example'])
      expect(await answersOf(domain)).toEqual([BLOCKED, BLOCKED]);
  });

  test('is used by both nodes once it is complete, and the next change gets a new revision number', async () => {
    await replaceBy('earlier');
    await untilOutput(/was replaced, for example by a restore/);
    await untilAnswered('restored.example', BLOCKED);
    await untilAnswered('later.example', EVERY_ADDRESS);
    const [restored] = await revisions();
    expect(restored!.summary).toContain('restored.example');
    await waited('next.example');
    expect(await answersOf('next.example')).toEqual([BLOCKED, BLOCKED]);
    const [next] = await revisions();
    expect(next!.id).toBeGreaterThan(restored!.id);
    await api.expect(200, 'POST', `/revisions/${String(restored!.id)}/rollback`);
    await untilAnswered('next.example', EVERY_ADDRESS);
    await until(
      `every node to be at revision ${String(next!.id + 1)}`,
      () => api.expect<ClusterNode[]>(200, 'GET', '/nodes'),
      (rows) => rows.every(({ policy_revision: at, lag_ms: lag }) => at === next!.id + 1 && lag === 0),
      { pauseMs: POLL_MS },
    );
  });

  test('receives the newest log rows again, and the queries since, exactly once', async () => {
    const count = (): Promise<number> => api.queryCount('domain=.logged.').catch(() => 0);
    await answersOf('first.logged.example');
    await until('the first two queries in the log', count, (seen) => seen === 2, { pauseMs: POLL_MS });
    await replaceBy('earlier');
    await answersOf('second.logged.example');
    await until('all four queries in the log', count, (seen) => seen >= 4, { pauseMs: POLL_MS });
    expect(await api.queryCount('domain=.logged.')).toBe(4);
  });
});

/** Creates a rule that blocks a name; when the response arrives, all nodes must block the name. */
async function waited(domain: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${String(nodes[0]!.webPort)}/api/managed-domains`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...{ cookie: `svc_session=${api.session}`, prefer: 'wait=60' },
    },
    body: JSON.stringify({ domain }),
  });
  expect([answer.status, answer.headers.get('weir-nodes-behind')]).toEqual([201, null]);
}
