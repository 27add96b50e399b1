/** A draft from request to result: over HTTP, with a real log, the compile thread and the simulation thread. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import type { Simulation } from '../../../shared/api/policy/simulate-api.ts';
import { systemClock } from '../../../shared/clock.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { QueryStatus, type QueryStatusName } from '../../../shared/query-log.ts';
import { a, cname, response, question, wireName } from '../../../test/support/dns/built-messages.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { OpenedPublisher } from '../../../test/support/parts/opened-publisher.ts';
import { RunningApi, type TestAnswer } from '../../../test/support/parts/running-api.ts';
import { SMALL_BLOCKING } from '../../../test/support/parts/small-policy.ts';
import { emptyLog, storeRows } from '../../../test/support/parts/stored-log.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { type ListServer, startListServer } from '../../../test/support/weir/list-server.ts';
import { CompilePool } from '../../policy/compile/table/compile-pool.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { DraftLists } from '../../lists/sources/draft-lists.ts';
import { ListCache } from '../../lists/sources/list-cache.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../policy/change/rows.ts';
import { logQuestions } from '../../query-log/log-search/log-questions.ts';
import { LogScans } from '../../query-log/log-search/log-scans.ts';
import { emptySnapshot } from '../../policy/snapshot/publish/starting-state.ts';
import { simulateRoutes } from './simulate-routes.ts';
import { Simulator, type SimulatorParts } from './simulator.ts';

const ROWS: PolicyRows = {
  ...NO_POLICY_ROWS,
  groups: [
    { id: 1, enabled: true },
    { id: 7, enabled: true },
  ],
  managedDomains: [
    { id: 4, name: 'no ads', domain: 'ads.example', suffix: true, action: 'deny', groupId: null },
  ],
  blockedServices: [
    { serviceId: 'tube', serviceName: 'Tube', groupId: 7, domains: ['tube.example'], exact: [] },
  ],
};

let suite: SuiteDatabase;
let server: ListServer;
let opened: OpenedPublisher;
let scans: LogScans;
let pool: CompilePool;
let api: RunningApi;
let log: SimulatorParts['log'];
/** Called before the log is read. */
let beforeReading = async (): Promise<void> => undefined;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  server = await startListServer();
  opened = await OpenedPublisher.open();
  pool = new CompilePool();
  const { database } = suite;
  scans = new LogScans({ database, logger: new MemoryLogger() });
  log = logQuestions({ scans, database, flush: async () => undefined, hostnameOf: () => null });
  await opened.publisher.publish(emptySnapshot(SMALL_BLOCKING).compiled, ROWS, SMALL_BLOCKING);
  const lists = new DraftLists({
    ...{ database, pool, clock: systemClock },
    cache: new ListCache(opened.dataDir),
    copies: { bring: async () => undefined },
    current: () => opened.publisher.current(),
    listDirs: () => [],
    bounds: { localDomain: () => '', ownPorts: () => new Set<number>() },
  });
  mkdirSync(join(opened.dataDir, 'list-cache'), { recursive: true });
  const simulator = new Simulator({
    publisher: opened.publisher,
    ...{ lists, database, clock: systemClock },
    blocking: () => SMALL_BLOCKING,
    findService: (id) =>
      id === 'game' ? { serviceName: 'Game', domains: ['game.example'], exact: [] } : undefined,
    clients: { addressesOf: () => [], nameAt: (ip) => (ip === '192.0.2.1' ? 'laptop' : null) },
    log: {
      distinctQuestions: async (request, signal) => {
        await beforeReading();
        return log.distinctQuestions(request, signal);
      },
    },
  });
  api = await RunningApi.start(database, () => simulateRoutes({ simulator }));
});
beforeEach(() => storeQueries());
afterEach(async () => {
  beforeReading = async () => undefined;
  await emptyLog(suite.database);
});
afterAll(async () => {
  await api.close();
  await scans.close();
  await pool.close();
  await opened.close();
  await server.close();
  await suite.close();
});

type SampleQuery = readonly [
  client: string,
  name: string,
  status: QueryStatusName,
  times: number,
  target?: string,
];

/** The answer section of a response of an upstream. */
function records(name: string, target: string | undefined): Uint8Array {
  const asked = question(name, 1);
  const answers =
    target === undefined ? [a(name, '203.0.113.5')] : [cname(name, target), a(target, '203.0.113.5')];
  return response(asked, { answers }).subarray(12 + wireName(name).length + 4);
}

async function storeQueries(): Promise<void> {
  const asked: readonly SampleQuery[] = [
    ['192.0.2.1', 'www.example.org', 'CACHED', 5],
    ['192.0.2.1', 'shop.example', 'ALLOWED', 3, 'x.tracker.example'],
    ['192.0.2.2', 'shop.example', 'CACHED', 2, 'x.tracker.example'],
    ['192.0.2.2', 'ads.example', 'BLOCKED_MANAGED', 4],
    ['192.0.2.2', 'www.tube.example', 'ALLOWED', 1],
    ['192.0.2.2', 'hidden.example', 'BLOCKED_CNAME', 6],
    ['192.0.2.2', 'late.example', 'RATE_LIMITED', 7],
  ];
  const rows = asked.flatMap(([client, name, status, times, target]) =>
    Array.from({ length: times }, (_, i) =>
      logRow({
        timestampMs: Date.now() - 60_000 - i,
        client: addressFromText(client)!,
        qname: wireName(name),
        status: QueryStatus[status],
        answers: status === 'CACHED' || status === 'ALLOWED' ? records(name, target) : null,
      }),
    ),
  );
  await storeRows(suite.database, rows);
}

function send(draft: object): Promise<TestAnswer> {
  return api.send('POST', '/api/simulate', { json: draft });
}

async function simulated(draft: object): Promise<Simulation> {
  const answer = await send(draft);
  expect([
    answer.status,
    answer.status === 200
      ? ''
      : answer.text + JSON.stringify(api.logger.lines.filter(({ level }) => level === 'error')),
  ]).toEqual([200, '']);
  return answer.body as Simulation;
}

async function faultsOf(draft: object): Promise<string[]> {
  const { status, problem } = await send(draft);
  expect(status).toBe(400);
  return (problem.errors ?? []).map(({ path }) => path);
}

describe('POST /simulate', () => {
  test('returns no changes for an empty draft, and reports how many queries were read', async () => {
    const found = await simulated({});
    expect(found).toMatchObject({
      queries: { judged: 21, not_judged: 7, undecided: 6, left_out: 0, distinct: 6 },
      is_complete: true,
      newly_blocked: { queries: 0, domains: 0, clients: 0 },
      newly_allowed: { queries: 0, domains: 0, clients: 0 },
      domains: [],
      clients: [],
    });
    expect(opened.publisher.current().snapshot.version).toBe(found.snapshot_id);
  });

  test('returns the names that a list of the draft would block, including CNAME targets in answers', async () => {
    const lists = { add: [{ text: '||tracker.example^\nwww.example.org\n<broken\n', name: 'new' }] };
    const found = await simulated({ lists });
    expect(found.newly_blocked).toEqual({ queries: 10, domains: 2, clients: 2 });
    expect(found.lists).toMatchObject([{ name: 'new', rules: 2 }]);
    expect(found.domains).toMatchObject([
      {
        domain: 'www.example.org',
        newly_blocked: 5,
        before: { status: 'ALLOWED', rule: null },
        after: { status: 'BLOCKED_LIST', rule: { origin: 'list', source: 'new', rule: 'www.example.org' } },
        clients_total: 1,
        clients: [{ ip_address: '192.0.2.1', ip: '192.0.2.1', hostname: 'laptop', queries: 5 }],
      },
      {
        domain: 'shop.example',
        newly_blocked: 5,
        after: { status: 'BLOCKED_CNAME', rule: { rule: '||tracker.example^' } },
        clients_total: 2,
        clients: [
          { ip_address: '192.0.2.1', queries: 3 },
          { ip_address: '192.0.2.2', queries: 2 },
        ],
      },
    ]);
    expect(found.clients).toMatchObject([
      { ip_address: '192.0.2.1', newly_blocked: 8, domains_total: 2 },
      { ip_address: '192.0.2.2', newly_blocked: 2, domains: [{ domain: 'shop.example', queries: 2 }] },
    ]);
  });

  test('returns what rules, services, groups and the blocking switch would change', async () => {
    const allowed = await simulated({ managed_domains: { drop: [4] } });
    expect(allowed.newly_allowed).toEqual({ queries: 4, domains: 1, clients: 1 });
    expect(allowed.queries.answer_unknown).toBe(4);
    expect(allowed.domains[0]!.before).toMatchObject({
      status: 'BLOCKED_MANAGED',
      rule: { origin: 'managed_domain', source: 'no ads', rule: '*.ads.example' },
    });
    const freed = await simulated({ managed_domains: { add: [{ domain: 'ads.example', action: 'allow' }] } });
    expect(freed.domains[0]!.after).toMatchObject({ status: 'ALLOWED', rule: { rule: 'ads.example' } });
    const moved = await simulated({ clients: [{ ip_address: '192.0.2.2', group_id: 7 }] });
    expect(moved.domains).toMatchObject([
      { domain: 'www.tube.example', after: { status: 'BLOCKED_SERVICE' } },
    ]);
    const subnets = [{ subnet_cidr: '192.0.2.0/24', group_id: 7 }];
    const unblock = [{ service_id: 'tube', group_id: 7 }];
    const block = [{ service_id: 'game', group_id: 7 }];
    expect((await simulated({ client_subnets: subnets })).newly_blocked.queries).toBe(1);
    expect((await simulated({ client_subnets: subnets, services: { block, unblock } })).domains).toEqual([]);
    const regex = { add: [{ pattern: '^(www|shop)[.]' }] };
    const filtered = await simulated({ regex_filters: regex, limit: 1 });
    expect(filtered).toMatchObject({ newly_blocked: { queries: 11, domains: 3 }, domains_total: 3 });
    expect([filtered.domains, filtered.clients].map(({ length }) => length)).toEqual([1, 1]);
    expect((await simulated({ blocking_enabled: false })).newly_allowed.queries).toBe(4);
  });

  test('fetches a list for this simulation only, and stores nothing', async () => {
    server.serve('/fresh.txt', (_request, answer) => void answer.end('||example.org^\n'));
    const found = await simulated({ lists: { add: [{ url: server.url('/fresh.txt') }] } });
    expect(found.newly_blocked.queries).toBe(5);
    const { rows } = await suite.database.query(
      'SELECT 1 FROM list_sources UNION ALL SELECT 1 FROM revisions WHERE NOT is_own',
    );
    expect(rows).toEqual([]);
  });

  test('refuses a draft that refers to unknown objects, and names each fault', async () => {
    expect(
      await faultsOf({
        managed_domains: { add: [{ domain: 'a.example', group_id: 9 }], drop: [5] },
        regex_filters: { drop: [1] },
        services: {
          block: [{ service_id: 'none', group_id: 1 }],
          unblock: [{ service_id: 'game', group_id: 1 }],
        },
        clients: [{ ip_address: '192.0.2.1', group_id: 9 }],
        client_subnets: [{ subnet_cidr: '192.0.2.0/24', group_id: 9 }],
        lists: { add: [{ text: 'a.example', group_ids: [9] }] },
      }),
    ).toEqual([
      'lists.add.0.group_ids.0',
      'managed_domains.drop.0',
      'managed_domains.add.0.group_id',
      'regex_filters.drop.0',
      'services.unblock.0',
      'services.block.0.service_id',
      'clients.0.group_id',
      'client_subnets.0.group_id',
    ]);
    expect(await faultsOf({ lists: { add: [{ source_id: 12 }] } })).toEqual(['lists.add.0.source_id']);
    expect(await faultsOf({ lists: { drop: [12] } })).toEqual(['lists.drop.0']);
  });

  test.each([
    ['a regex that does not compile', { regex_filters: { add: [{ pattern: '(a' }] } }],
    ['a regex that cannot be matched in linear time', { regex_filters: { add: [{ pattern: '(a)\\1' }] } }],
    ['10,001 rules', { managed_domains: { add: Array(10_001).fill({ domain: 'a.example' }) } }],
    ['101 regexes', { regex_filters: { add: Array(101).fill({ pattern: 'a' }) } }],
    [
      'a client with IP and MAC address',
      { clients: [{ ip_address: '::1', mac_address: '02:00:5e:10:00:01', group_id: 1 }] },
    ],
    ['a list without content', { lists: { add: [{}] } }],
    [
      'a list with two kinds of content',
      { lists: { add: [{ text: 'a.example', url: 'https://lists.example/' }] } },
    ],
    ['an unknown field', { lists: { add: [], remove: [] } }],
    ['a text that is too long', { lists: { add: [{ text: 'a'.repeat(1_048_577) }] } }],
    [
      'a list that is a web page',
      { lists: { add: [{ text: '<!DOCTYPE html><html><body>no</body></html>' }] } },
    ],
    ['a file outside the list folders', { lists: { add: [{ url: 'file:///etc/passwd' }] } }],
    ['a list that does not exist on its server', { lists: { add: [{ url: 'http://127.0.0.1:9/list' }] } }],
    ['an empty period', { period: '0h' }],
    ['wrong types', { lists: 7, managed_domains: [], clients: {} }],
  ])('refuses %s with 400', async (_what, draft) => {
    expect((await faultsOf(draft)).length).toBeGreaterThan(0);
  });

  test('accepts 10,000 rules, and reads the valid lines of a list that is mostly garbage', async () => {
    const add = Array.from({ length: 10_000 }, (_, i) => ({ domain: `*.n${i}.example` }));
    expect((await simulated({ managed_domains: { add } })).domains).toEqual([]);
    const garbage = Array.from({ length: 500 }, (_, i) => `${'%'.repeat(i % 70)} ~~|${i}`);
    const found = await simulated({ lists: { add: [{ text: [...garbage, 'www.example.org'].join('\n') }] } });
    expect(found).toMatchObject({ lists: [{ rules: 1 }], newly_blocked: { queries: 5 } });
    expect(await faultsOf({ lists: { add: [{ text: garbage.join('\n') }] } })).toEqual(['lists.add.0']);
  });

  test('runs one simulation at a time, and ends a simulation whose client has disconnected', async () => {
    const reached = Promise.withResolvers<undefined>();
    const free = Promise.withResolvers<undefined>();
    beforeReading = async () => {
      reached.resolve(undefined);
      await free.promise;
    };
    const path = '/api/simulate';
    const headers = { 'content-type': 'application/json' };
    const first = httpRequest({ port: api.port, method: 'POST', path, headers, agent: false });
    first.on('error', () => undefined).end('{}');
    await within('the first draft to read the log', reached.promise);
    const second = await send({});
    expect([second.status, second.headers['retry-after']]).toEqual([503, '5']);
    expect(second.problem.error).toBe('busy');
    first.destroy();
    free.resolve(undefined);
    beforeReading = async () => undefined;
    await until(
      'the second draft to have its turn',
      async () => (await send({})).status,
      (now) => now === 200,
    );
  });

  test('fails with 503 if its thread runs out of memory, and the next simulation succeeds', async () => {
    const whole = log;
    // Ordinary questions are outside the heap of the thread, but these texts are inside it.
    const texts = Array<string>(400).fill('x'.repeat(2 ** 20));
    log = {
      distinctQuestions: async (request, signal) => {
        const read = await whole.distinctQuestions(request, signal);
        // A copy, because the questions may also be used for the next draft.
        return { ...read, questions: { ...read.questions, texts } };
      },
    };
    const answer = await send({});
    log = whole;
    expect([answer.status, answer.problem.error]).toEqual([503, 'busy']);
    expect(answer.headers['retry-after']).toBeDefined();
    expect((await send({})).status).toBe(200);
  });

  test('fails with 503 if the database becomes unavailable during the simulation', async () => {
    const whole = log;
    log = { distinctQuestions: () => Promise.reject(new DatabaseUnavailable('read the log: it is gone')) };
    const answer = await send({});
    log = whole;
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBeDefined();
  });
});
