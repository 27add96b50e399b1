import { beforeEach, describe, expect, test } from '@jest/globals';
import { CompatSuite, errorIn } from '../../../test/support/parts/compat-suite.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { loggedDay } from '../../../test/support/parts/logged-day.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import {
  COMPAT_REPLIES,
  COMPAT_STATUSES,
  type CompatSummary,
} from '../../../shared/api/compat/compat-api.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { NO_POLICY_ROWS } from '../../policy/change/rows.ts';
import type { CompatQueries, CompatQuery } from '../../../shared/api/compat/compat-log-api.ts';

const FILTER = { id: 9, name: 'Tracker', pattern: '^ads', action: 'deny', groupId: null } as const;
const compat = new CompatSuite({
  toml: 'auth.enabled = false',
  given: { policyRows: () => ({ ...NO_POLICY_ROWS, regexFilters: [FILTER] }) },
});
let summary: CompatSummary['queries'];
beforeEach(async () => {
  await storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs()));
  summary = (await compat.open<CompatSummary>('/api/stats/summary')).queries;
});

const read = (query: string): Promise<CompatQueries> => compat.open<CompatQueries>(`/api/queries${query}`);

/** Rows that a filter finds: as many as it reports, and each of them matches. */
async function found(query: string, isOne: (row: CompatQuery) => boolean): Promise<number> {
  const { queries, recordsFiltered, recordsTotal } = await read(`?length=-1&${query}`);
  expect([queries.length, recordsTotal]).toEqual([recordsFiltered, summary.total]);
  expect(queries.filter((row) => !isOne(row))).toEqual([]);
  return queries.length;
}

describe('the query log of the compatibility API', () => {
  test('returns the number of rows in the summary by default, newest first, and more on request', async () => {
    const { queries, recordsTotal, recordsFiltered, draw } = await read('?length=-1&draw=7');
    expect([queries.length, recordsTotal, recordsFiltered, draw]).toEqual([
      summary.total,
      summary.total,
      summary.total,
      7,
    ]);
    const times = queries.map(({ time }) => time);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const ids = queries.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    expect((await read('?disk=true')).recordsTotal).toBe(summary.total + 3);
    const from = queries.at(-1)!.time;
    expect((await read(`?from=${from}&until=${from}`)).recordsTotal).toBeGreaterThan(0);
  });

  test('filters by status, blocked or not, with the same counts as the summary', async () => {
    for (const status of COMPAT_STATUSES)
      expect(await found(`status=${status}`, (row) => row.status === status)).toBe(summary.status[status]);
    expect(await found('upstream=blocklist', () => true)).toBe(summary.blocked);
    expect(await found('upstream=cache', () => true)).toBe(summary.cached);
    expect(await found('upstream=permitted', () => true)).toBe(summary.total - summary.blocked);
  });

  test('finds names, clients and upstreams by wildcards that match the whole text, in any letter case', async () => {
    expect(await found('domain=allowed-0.example.org', (row) => row.domain === 'allowed-0.example.org')).toBe(
      1,
    );
    const inZone = await found('domain=*.EXAMPLE.org', (row) => row.domain.endsWith('.example.org'));
    expect(inZone + (await found('domain=*.arpa', () => true))).toBe(summary.total);
    expect(await found('domain=example', () => true)).toBe(0);
    expect(await found('domain=blocked-*-1.*', (row) => row.domain.startsWith('blocked-'))).toBeGreaterThan(
      5,
    );
    expect(await found('client_ip=192.0.2.7', (row) => row.client.ip === '192.0.2.7')).toBeGreaterThan(0);
    expect(await found('client_ip=192.0.2.*', () => true)).toBe(summary.total);
    expect(await found('client_name=*', () => true)).toBe(0);
    expect(
      await found('upstream=192.0.2.54%23853', (row) => row.upstream === '192.0.2.54#853'),
    ).toBeGreaterThan(0);
    expect(await found('upstream=192.*', (row) => row.upstream !== null)).toBeGreaterThan(0);
    expect(await found('upstream=*&domain=blocked*', (row) => row.upstream !== null)).toBeGreaterThan(0);
  });

  test('shows an upstream only for queries that were forwarded', async () => {
    const rows = (await read('?length=-1')).queries;
    const asked = rows.filter(({ upstream }) => upstream !== null);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ status }) => status.startsWith('CACHE'))).toEqual([]);
    expect(await found('upstream=*', (row) => row.upstream !== null)).toBe(asked.length);
  });

  test('shows the extended error of a row, and the ID of the rule or list that blocked it', async () => {
    const logged = { blockSource: 'Tracker', timestampMs: compat.api.clock.nowMs() - 1 };
    const row = { qname: wireName('ads.example'), extendedError: 15, answerType: 0 };
    await storeRows(compat.suite.database, [
      logRow({ ...row, ...logged, status: QueryStatus.BLOCKED_REGEX }),
    ]);
    const [shown] = (await read('?domain=ads.example')).queries;
    expect(shown).toMatchObject({ ede: { code: 15, text: 'blocked' }, list_id: 9, cname: null });
    expect((await read('?status=CACHE&length=1')).queries[0]).toMatchObject({
      ede: { code: -1, text: null },
      list_id: null,
    });
  });

  test('filters by type, reply and DNSSEC status', async () => {
    expect(await found('type=HTTPS', (row) => row.type === 'HTTPS')).toBe(summary.types.HTTPS);
    expect(await found('type=type65280', (row) => row.type === 'TYPE65280')).toBeGreaterThan(0);
    expect(await found('type=other', (row) => row.type.startsWith('TYPE'))).toBe(summary.types.OTHER);
    for (const reply of COMPAT_REPLIES)
      expect(await found(`reply=${reply}`, (row) => row.reply.type === reply)).toBe(summary.replies[reply]);
    expect(await found('dnssec=unknown', () => true)).toBe(summary.total);
    expect(await found('dnssec=truncated', () => true)).toBe(0);
    expect(await found('status=FORWARDED&upstream=cache', () => true)).toBe(0);
  });

  test.each(['status=x', 'type=NOTYPE', 'reply=x', 'cursor=abc', 'cursor=-1', 'dnssec=x'])(
    'rejects %s',
    async (query) => {
      const answer = await compat.send('GET', `/api/queries?${query}`);
      expect([answer.status, errorIn(answer).key]).toEqual([400, 'bad_request']);
      expect(errorIn(answer).hint).toBe(query.split('=')[1]);
    },
  );

  test('rejects an offset beyond its maximum, so that no page is repeated', async () => {
    const last = await read('?length=5&start=100000');
    expect([last.queries, last.recordsTotal]).toEqual([[], summary.total]);
    const beyond = await compat.send('GET', '/api/queries?length=5&start=100001');
    expect([beyond.status, errorIn(beyond)]).toMatchObject([400, { key: 'bad_request', hint: '100001' }]);
  });

  test('has pages that do not change when new queries arrive', async () => {
    const first = await read('?length=5');
    compat.api.clock.advanceSecs(5);
    const newer = [1, 2, 3].map((ago) => logRow({ timestampMs: compat.api.clock.nowMs() - ago }));
    await storeRows(compat.suite.database, newer);
    const all = await read(`?length=-1&cursor=${first.cursor}`);
    const second = await read(`?length=5&start=5&cursor=${first.cursor}`);
    expect([...first.queries, ...second.queries].map(({ id }) => id)).toEqual(
      all.queries.slice(0, 10).map(({ id }) => id),
    );
    expect(second.cursor).toBe(first.cursor);
    expect((await read('')).recordsTotal).toBe(summary.total + 3);
  });

  test('accepts numbers that make no sense', async () => {
    for (const query of [
      'length=0',
      'start=-5',
      'cursor=0',
      'cursor=9007199254740991',
      'from=9&until=1',
      'from=99999999999',
    ])
      expect((await compat.send('GET', `/api/queries?${query}`)).status).toBe(200);
  });
});
