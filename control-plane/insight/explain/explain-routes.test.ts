import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { questionsOf, storedRows, storeRows } from '../../../test/support/parts/stored-log.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { explainRoutes } from './explain-routes.ts';

const directory = new ClientDirectory();
let api: RunningApi;
let suite: SuiteDatabase;
const asked: unknown[] = [];
/** Explanation by an earlier generation; null = it is not kept. */
let past: ExplainAnswer | null;
/** A record: up.example A 192.0.2.80, TTL 60; its owner is a pointer to the queried name. */
const ANSWER = Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 80);
/** Name of node 1, which has no row in the table. */
const OWN_NAME = '';

const explained = (question: { domain: string; type: string }): ExplainAnswer => ({
  ...{ ...question, client: '192.0.2.7', group_id: 1, snapshot_id: 7, status: 'ALLOWED', decided_by: null },
  ...{ stages: [], lists: [], upstreams: null, answer: null },
});

serveSuite(
  (parts) =>
    explainRoutes({
      explainer: {
        explain: async (question) => {
          asked.push(question);
          return explained(question);
        },
      },
      past: {
        explainAt: async (question, momentMs) => {
          asked.push([question, momentMs]);
          return past;
        },
      },
      nodeName: OWN_NAME,
      queryLog: questionsOf(parts.database),
      database: parts.database,
      clients: directory,
    }),
  (served) => ({ api, suite } = served),
);
beforeEach(() => {
  asked.length = 0;
  past = null;
});

async function storeBlocked(nodeId = 1): Promise<number> {
  const blocked = { blockSource: 'ads', blockRule: '||a.example^' };
  await storeRows(
    suite.database,
    [
      logRow({ timestampMs: Date.now() - 60_000, qname: wireName('b.example') }),
      logRow({ timestampMs: Date.now() - 59_000, qname: wireName('a.example'), status: 4, ...blocked }),
    ],
    nodeId,
  );
  return (await storedRows(suite.database)).find(({ domain }) => domain === 'a.example')!.id;
}

async function revisionAt(secsAgo: number): Promise<number> {
  const { rows } = await suite.database.query<{ id: string }>(
    `INSERT INTO revisions (author, summary, created_at) VALUES ('tester', 'x', now() - $1 * interval '1 s')
     RETURNING id`,
    [secsAgo],
  );
  return Number(rows[0]!.id);
}

describe('GET /explain', () => {
  test('explains the query of a log row by its query_id, with the logged data', async () => {
    const before = await revisionAt(3600);
    const id = await storeBlocked();
    const { status, body } = await api.send('GET', `/api/explain?query_id=${id}`);
    expect(status).toBe(200);
    expect(asked).toEqual([{ domain: 'a.example', type: 'A', client: '192.0.2.7' }]);
    expect(body).toMatchObject({
      domain: 'a.example',
      logged: {
        ...{ query_id: id, status: 'BLOCKED_LIST', block_source: 'ads', block_rule: '||a.example^' },
        ...{ revision: before, current_revision: before, exact: true, reason: null, inexact: null },
      },
    });
  });

  test.each([
    ['changed since', 10, 'changed_since', /have changed since/],
    ['changing then', 60, 'change_in_progress', /while a change was being applied/],
  ])('with the ID of a log row reports that policy was %s', async (_what, secsAgo, cause, reason) => {
    await revisionAt(3600);
    const newest = await revisionAt(secsAgo);
    const id = await storeBlocked();
    const { logged } = (await api.send('GET', `/api/explain?query_id=${id}`)).body as ExplainAnswer;
    expect(logged).toMatchObject({ current_revision: newest, exact: false, inexact: { cause } });
    expect(logged!.reason).toMatch(reason);
  });

  test('with the ID of a log row uses the policy of its time if this node answered the query and has that policy', async () => {
    await revisionAt(3600);
    await revisionAt(10);
    const id = await storeBlocked();
    const explain = async (): Promise<ExplainAnswer> =>
      (await api.send('GET', `/api/explain?query_id=${id}`)).body as ExplainAnswer;
    past = { ...explained({ domain: 'a.example', type: 'A' }), status: 'BLOCKED_LIST', snapshot_id: 3 };
    const then = await explain();
    expect(then).toMatchObject({ snapshot_id: 3, status: 'BLOCKED_LIST' });
    expect(then.logged).toMatchObject({ by: 'kept_generation', exact: true, reason: null });
    const question = { domain: 'a.example', type: 'A', client: '192.0.2.7' };
    // Upstreams are not queried for a stage that is not shown.
    expect(asked).toEqual([[question, Date.parse(then.logged!.timestamp)]]);
    past = null;
    const now = await explain();
    expect(now).toMatchObject({ snapshot_id: 7, logged: { by: 'policy_in_force', exact: false } });
    expect(now.logged!.reason).toMatch(/this node has not stored the policy of that time/);
    expect(now.logged!.inexact).toMatchObject({ missing: 'not_stored' });
    await suite.database.query(`INSERT INTO nodes (id, name) VALUES (2, 'other') ON CONFLICT DO NOTHING`);
    const elsewhere = await storeBlocked(2);
    const { logged } = (await api.send('GET', `/api/explain?query_id=${elsewhere}`)).body as ExplainAnswer;
    expect(logged!.reason).toMatch(/only other, the node that answered the query,/);
    expect(logged!.inexact).toMatchObject({ missing: 'other_node', node: 'other' });
  });

  test('with the ID of a log row that upstreams answered returns the logged answer, server and status', async () => {
    await revisionAt(3600);
    await revisionAt(10);
    await storeRows(suite.database, [
      logRow({
        timestampMs: Date.now() - 60_000,
        qname: wireName('up.example'),
        answers: ANSWER,
        upstream: 'udp://192.0.2.53',
      }),
    ]);
    const { id } = (await storedRows(suite.database)).find(({ domain }) => domain === 'up.example')!;
    const unresolved = { stage: 'cache', verdict: 'unresolved' as const, rules: [], detail: null };
    const upstreams = { zone: null, pools: [], answered_by: null };
    past = { ...explained({ domain: 'up.example', type: 'A' }), stages: [unresolved], upstreams };
    const { body } = await api.send('GET', `/api/explain?query_id=${id}`);
    expect(body).toMatchObject({
      upstreams: { answered_by: 'udp://192.0.2.53' },
      answer: { rcode: 'NOERROR', answers: [{ name: 'up.example', type: 'A', ttl: 60, data: '192.0.2.80' }] },
    });
  });

  test('explains a name for a client at its last address, and for a group, but not for unknown clients and groups', async () => {
    const stored = {
      ...{ hostname: null, name: 'x', firstSeenMs: null, lastSeenMs: null, queryCount: 0 },
      ...{ site: '', deviceId: null, isAcknowledged: false, excludeFromLog: false, excludeFromStats: false },
    };
    directory.load([
      { id: 5, ip: '192.0.2.5', mac: null, key: null, addresses: ['192.0.2.5'], groupId: 3, ...stored },
      { id: 6, ip: null, mac: null, key: 'phone', addresses: [], groupId: 4, ...stored },
    ]);
    const ask = (query: string) => api.send('GET', `/api/explain?domain=a.example&${query}`);
    const question = { domain: 'a.example', type: 'A' };
    expect((await ask('client_id=5')).status).toBe(200);
    expect(asked.at(-1)).toEqual({ ...question, client: '192.0.2.5', clientId: 5 });
    expect((await ask('client_id=6')).status).toBe(200);
    expect(asked.at(-1)).toEqual({ ...question, client: '127.0.0.1', clientId: 6, groupId: 4 });
    expect((await ask('group_id=2')).status).toBe(200);
    expect(asked.at(-1)).toEqual({ ...question, client: '127.0.0.1', clientKey: '', groupId: 2 });
    expect((await ask('client_id=7')).status).toBe(404);
    const { status, problem } = await ask('client_id=5&client=192.0.2.1');
    expect([status, problem.errors?.map(({ path }) => path)]).toEqual([400, ['client_id']]);
  });

  test('returns 404 for a missing log row', async () => {
    const id = await storeBlocked();
    for (const unknown of [id + 2, id + 2 ** 33, 1, 999_999_999_999_999])
      expect((await api.send('GET', `/api/explain?query_id=${unknown}`)).status).toBe(404);
  });

  test('requires either a name or the ID of a log row', async () => {
    for (const [query, paths] of [
      ['', ['domain']],
      ['?type=A', ['domain']],
      ['?query_id=5&domain=a.example', ['domain']],
      ['?query_id=5&type=A&client=192.0.2.1', ['type', 'client']],
      ['?query_id=0', ['query_id']],
      ['?query_id=x', ['query_id']],
    ] as const) {
      const { status, problem } = await api.send('GET', `/api/explain${query}`);
      expect([status, problem.errors?.map(({ path }) => path)]).toEqual([400, paths]);
    }
    const plain = await api.send('GET', '/api/explain?domain=A.example');
    const question = { domain: 'a.example', type: 'A', client: '127.0.0.1', clientKey: '' };
    expect([plain.status, asked]).toEqual([200, [question]]);
    expect((await api.send('GET', '/api/explain?domain=a.example&client_key=Phone')).status).toBe(200);
    expect(asked.at(-1)).toEqual({ ...question, clientKey: 'phone' });
    const refused = await api.send('GET', '/api/explain?domain=a.example&client_key=a.b');
    expect([refused.status, refused.problem.errors?.map(({ path }) => path)]).toEqual([400, ['client_key']]);
    expect(plain.body).not.toHaveProperty('logged');
  });
});
