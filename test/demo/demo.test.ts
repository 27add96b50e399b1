/** The demo for users who want to try the dashboard: with little data, started twice. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import type { BlocklistSource } from '../../shared/api/policy/sources-api.ts';
import type { Client } from '../../shared/api/policy/clients-api.ts';
import { makeTempDir } from '../support/weir/data-dir.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { ownEnvironment, OwnProcess } from '../support/weir/weir-process.ts';
import { HOUSEHOLD } from './household.ts';
import { Progress } from './progress.ts';
import { Demo } from './running-demo.ts';
import { LISTS } from './sites.ts';

const DAYS = 0.5;
/** With 4,000 queries a day, a regex rule would block almost no query in some half days. */
const PER_DAY = 20_000;

const tempDir = makeTempDir();
let demo: Demo;
let shown = '';

beforeAll(async () => {
  const [web, lists, dns] = await Promise.all([1, 2, 3].map(() => freePort(['127.0.0.1'])));
  demo = await Demo.open({
    dir: tempDir.path,
    ports: { web: web!, lists: lists!, dns: dns! },
    days: DAYS,
    perDay: PER_DAY,
    output: { write: (text) => (shown += text) },
  });
});
afterAll(async () => {
  await demo.close();
  tempDir.remove();
});

describe('the demo', () => {
  test('shows the steps of the first start, one line each', () => {
    expect(shown.split('\n')).toEqual([
      '[1/4] Creating the database',
      '[2/4] Writing the query log',
      '[2/4] Writing the query log: day 1 of 1, 0 queries',
      expect.stringMatching(/^\[2\/4\] Writing the query log: [\d,]+ queries, updating the statistics$/),
      '[3/4] Starting the server',
      '[4/4] Adding lists, rules, records and users',
      '',
    ]);
  });

  test('has a query log of several days with each kind of outcome', async () => {
    for (const status of ['ALLOWED', 'CACHED', 'LOCAL', 'SERVFAIL', 'BLOCKED_LIST', 'BLOCKED_REGEX'])
      expect([status, await demo.api.queryCount(`status=${status}`)]).not.toEqual([status, 0]);
    const [oldest] = (await demo.api.queries('status=LOCAL')).slice(-1);
    expect(Date.now() - Date.parse(oldest!.timestamp)).toBeGreaterThan((DAYS / 3) * 86_400_000);
  });

  test('shows its devices by name, MAC and group', async () => {
    const { data } = await demo.api.expect<{ data: Client[] }>(200, 'GET', '/clients?limit=100');
    const known = data.map(({ name, mac_address: mac, group_source: by }) => [name, mac, by]);
    expect(known.sort()).toEqual(HOUSEHOLD.map(({ name, mac }) => [name, mac, 'mac']).sort());
  });

  test('counts at least as many queries of each device in total as in the log', async () => {
    const { data } = await demo.api.expect<{ data: Client[] }>(200, 'GET', '/clients?limit=100');
    const logged = await demo.api.expect<{ id: number; queries_total: number }[]>(
      200,
      'GET',
      '/clients/stats?period=7d&limit=100',
    );
    expect(logged).toHaveLength(HOUSEHOLD.length);
    const totals = new Map(data.map(({ id, query_count: total }) => [id, total]));
    // Queries that arrive between the two requests are counted only in the log.
    for (const { id, queries_total: queries } of logged)
      expect(totals.get(id)).toBeGreaterThanOrEqual(queries - 5);
  });

  test('has active lists, and one list with a held update', async () => {
    const sources = await demo.api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources');
    expect(sources.map(({ name, status }) => [name, status])).toEqual(
      LISTS.map((name, place) => [name, place === LISTS.length - 1 ? 'held' : 'ok']),
    );
  });

  test('keeps sending queries from its devices', async () => {
    const devices = HOUSEHOLD.map(({ address }) => address);
    const before = await demo.api.queryCount();
    await demo.api.untilQueryCount(before + 3);
    const { data } = await demo.api.expect<{ data: { client: string }[] }>(200, 'GET', '/queries?limit=3');
    for (const { client } of data) expect(devices).toContain(client);
  });

  test('starts again with its existing data, and ends at once on Ctrl+C', async () => {
    await demo.close();
    const port = demo.weir.webPort;
    const args = [join(import.meta.dirname, 'demo.ts'), '--dir', tempDir.path, '--port', String(port)];
    await using again = new OwnProcess(process.execPath, args, { env: ownEnvironment() });
    await again.untilOutput(/Ctrl\+C/);
    expect(again.output).toContain(`http://127.0.0.1:${port}/`);
    expect(again.output).toContain(demo.password);
    expect(await again.end('SIGINT')).toMatchObject({ code: 0, signal: null });
  });
});

describe('Progress, the output of the first start,', () => {
  test('overwrites the line of a step in a terminal', () => {
    let written = '';
    const progress = new Progress({ isTTY: true, write: (text) => (written += text) }, 2);
    progress.next('One');
    progress.count('half');
    progress.next('Two');
    progress.end();
    expect(written.replaceAll('\r\u001B[2K', '<')).toBe('<[1/2] One<[1/2] One: half\n<[2/2] Two\n');
  });
});
