/**
 * Walks through the OpenAPI document of a running server, over real HTTP and a real PostgreSQL server: each operation
 * must succeed once, return each of its documented statuses, and return no other. `walk-cases.ts` has the steps that
 * the document does not describe.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tooMany } from '../../../control-plane/api/api-error.ts';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { startDatabase } from '../../../control-plane/storage/db/database.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import { everyOperation, everyRoute } from '../../support/parts/every-route.ts';
import type { LogQuestions } from '../../../control-plane/query-log/log-search/log-questions.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { MemorySources } from '../../support/parts/memory-sources.ts';
import { logInAs, makeUser } from '../../support/parts/people.ts';
import { PASSWORD, RunningApi } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';
import { until } from '../../support/parts/until.ts';
import { refusalsOf, SUCCESSES, UNPROVOKED } from './walk-cases.ts';
import { WalkedApi } from './walked-api.ts';
import type { Ask } from './walked-api.ts';

/**
 * Nodes: one for nearly all requests, one without a database, an overloaded one, and one with exhausted rate limits.
 */
let suite: SuiteDatabase;
let api: RunningApi;
let offline: RunningApi;
let busy: RunningApi;
let flooded: RunningApi;
let absent: Absent;
let walk: WalkedApi;
let viewer: string;
let family: string;
let document: OpenApiDocument;
const sources = new MemorySources();
const refusals = refusalsOf(sources);

beforeAll(async () => {
  suite = await openSuiteDatabase();
  await suite.database.query(`INSERT INTO nodes (id, name) VALUES (7, 'gone')`);
  absent = await absentDatabase();
  const toml = 'server.trusted_proxies = ["127.0.0.0/8"]\nserver.acme.names = ["weir.example.org"]';
  api = await RunningApi.start(suite.database, everyRoute({ sources }), { toml });
  offline = await RunningApi.start(absent.database, everyRoute(), { toml });
  busy = await RunningApi.start(suite.database, everyRoute(OVERLOADED), { toml });
  const requestRate = { perSecond: 0.1, burst: 0 };
  flooded = await RunningApi.start(suite.database, everyRoute(), { toml, requestRate });
  const json = { password: PASSWORD, setup_code: await api.setupCode.value() };
  const setup = await api.send('POST', '/api/auth/setup', { json });
  const session = await api.logIn();
  await makeUser(api, session, { username: 'vera', role: 'viewer' });
  viewer = await logInAs(api, 'vera');
  await makeUser(api, session, { username: 'frida', role: 'family' });
  family = await logInAs(api, 'frida');
  document = (await api.send('GET', '/api/openapi.json', { session })).body as OpenApiDocument;
  walk = new WalkedApi(api, document, session, setup);
  const made = await api.send('POST', '/api/groups', { session, json: { name: 'Guests' } });
  walk.groupId = (made.body as { id: number }).id;
});
afterAll(async () => {
  for (const each of [api, offline, busy, flooded]) await each.close();
  await absent.close();
  await suite.close();
});

/** Exports in progress. */
let exporting = 0;

/** Parts that refuse every call, with the error of the real part. */
const OVERLOADED: Parameters<typeof everyRoute>[0] = {
  tail: {
    admit: () => {
      throw tooMany('busy', 'too many streams', 5);
    },
    send: () => Promise.resolve(),
  },
  queryLog: {
    // eslint-disable-next-line require-yield -- an export that never gets a row
    rows: async function* (_selection: unknown, gone: AbortSignal) {
      exporting++;
      await once(gone, 'abort');
    },
  } as unknown as LogQuestions,
  health: {
    checks: () => ({
      dns: { status: 'down' },
      database: { status: 'ok' },
      upstreams: { status: 'ok' },
      filters: { status: 'ok' },
      nodes: { status: 'ok' },
      clock: { status: 'ok' },
      access: { status: 'ok' },
      web: { status: 'ok' },
      certificates: { status: 'ok' },
      disk: { status: 'ok' },
      configuration: { status: 'ok' },
      privileges: { status: 'ok' },
    }),
  },
};

interface Absent {
  readonly database: Database;
  close(): Promise<void>;
}

/** An unreachable database: nothing listens on port 9 of the loopback. */
async function absentDatabase(): Promise<Absent> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-walk-'));
  const lock = lockDataDir(folder);
  const database = startDatabase({
    urls: 'postgres://weir@127.0.0.1:9/weir',
    lock,
    logger: new MemoryLogger(),
  });
  return {
    database,
    close: async () => {
      await database.close();
      lock.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const rows = everyOperation.map((row) => ({ ...row, name: `${row.method} ${row.path}` }));

/** Paths with unknown ids. */
function nowhere(name: string): Record<string, string | number> {
  const { parameters = [] } = walk.checker.operations.get(name)!;
  return Object.fromEntries(
    parameters
      .filter((one) => one.in === 'path')
      .map((one) => [one.name, one.schema.type === 'integer' ? 2_000_000_000 : 'no-such-thing']),
  );
}

/** Requests that every operation refuses in the same way. */
const COMMON: Readonly<Record<number, (name: string, limitBytes: number) => Promise<unknown>>> = {
  400: (name) => walk.ask(name, { query: '?surprise=1' }),
  401: (name) => walk.ask(name, { session: 'A'.repeat(43) }),
  404: (name) =>
    name.includes('{') ? walk.askWithExample(name, { params: nowhere(name) }) : Promise.resolve(),
  413: (name, limitBytes) => walk.ask(name, jsonText(`{"x":"${'x'.repeat(limitBytes)}"}`)),
  415: (name) => walk.ask(name, { raw: 'x', headers: { 'content-type': 'text/x-walk' } }),
  429: (name) => walk.ask(name, {}, flooded),
  421: (name) => walk.ask(name, { headers: { host: 'evil.example' } }),
  503: (name) => walk.askWithExample(name, { session: 'A'.repeat(43) }, {}, offline),
};

function jsonText(raw: string): Ask {
  return { raw, headers: { 'content-type': 'application/json' } };
}

/** The statuses that an operation documents. */
function documented(name: string): number[] {
  return Object.keys(walk.checker.operations.get(name)!.responses).map(Number);
}

describe('requests to every operation', () => {
  test('the OpenAPI document describes each route, and no other route', () => {
    expect([...walk.checker.operations.keys()].sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  test.each(rows)(
    '$name rejects requests that are invalid for every operation',
    async ({ name, bodyLimitBytes }) => {
      for (const status of documented(name)) await COMMON[status]?.(name, bodyLimitBytes);
    },
  );

  test.each(rows.filter(({ access }) => access === 'admin' || access === 'family'))(
    '$name is forbidden for viewers',
    async ({ name }) => {
      expect((await walk.ask(name, { session: viewer })).status).toBe(403);
    },
  );

  test.each(rows.filter(({ access }) => access === 'admin' || access === 'viewer'))(
    '$name is forbidden for the role family',
    async ({ name }) => {
      expect((await walk.ask(name, { session: family })).status).toBe(403);
    },
  );

  test.each(rows.filter(({ method }) => method !== 'GET'))(
    '$name is forbidden from other origins',
    async ({ name }) => {
      expect((await walk.ask(name, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    },
  );

  test.each(rows)('$name succeeds', async ({ name, method, path, status }) => {
    const provoke = SUCCESSES[name];
    const item = /^(.*?)\/\{(\w+)\}/.exec(path);
    const creates = rows.some((row) => row.method === 'DELETE' && row.path.startsWith(`${path}/{`));
    if (method === 'POST' && creates && !path.includes('{')) await empty(path);
    if (provoke !== undefined) {
      expect((await provoke(walk)).status).toBe(status);
      return;
    }
    const params = item === null ? {} : { [item[2]!]: await idFor(item[1]!, item[2]!) };
    const wanted = refusals[`${name} ${status}`];
    const answer = wanted === undefined ? await walk.askWithExample(name, { params }) : await wanted(walk);
    expect([name, answer.status, answer.status >= 400 ? answer.text : '']).toEqual([name, status, '']);
    // Sends the creation again, to get the refusal of a duplicate.
    if (status === 201) await walk.askWithExample(name, { params });
  });

  test.each(Object.entries(refusals))('%s', async (name, provoke) => {
    const answer = await provoke(walk);
    expect(`${name.replace(/ \d+$/, '')} ${answer.status}`).toBe(name);
  });

  test('a node that is running cannot be removed', async () => {
    await suite.database.query(
      `INSERT INTO nodes (id, name, run, last_seen) VALUES (8, 'core', gen_random_uuid(), now())`,
    );
    expect((await walk.ask('DELETE /nodes/{node}', { params: { node: 'core' } })).status).toBe(409);
  });

  test('an overloaded node returns the documented status', async () => {
    await walk.ask('GET /queries/stream', {}, busy);
    await walk.ask('GET /health', {}, busy);
    const exports = Array.from({ length: 2 }, () =>
      busy.send('GET', '/api/queries/export', { session: walk.session }),
    );
    void Promise.allSettled(exports);
    await until(
      `${exports.length} exports in progress`,
      () => exporting,
      (count) => count === exports.length,
    );
    await walk.ask('GET /queries/export', {}, busy);
  });

  test('each documented status was returned, except for a few with a reason', () => {
    const unmet = rows.flatMap(({ name }) =>
      documented(name)
        .filter((status) => walk.met.get(name)?.has(status) !== true)
        .map((status) => `${name} ${status}`),
    );
    expect(unmet.sort()).toEqual(Object.keys(UNPROVOKED).sort());
  });
});

async function idFor(collection: string, key: string): Promise<string | number> {
  if (key === 'group_id') return walk.groupId;
  if (collection === '/services/catalog') return 'netflix';
  return walk.entityOf(collection);
}

/** The id of a group's plan is the id of the group. */
const GROUPS = ['/groups', '/group-plans'];

async function empty(collection: string): Promise<void> {
  const item = rows.find((row) => row.method === 'DELETE' && row.path.startsWith(`${collection}/{`))!.path;
  const key = /\{(\w+)\}$/.exec(item)![1]!;
  for (const id of await walk.entitiesOf(collection))
    if (id !== walk.groupId || !GROUPS.includes(collection))
      await walk.ask(`DELETE ${item}`, { params: { [key]: id } });
}
