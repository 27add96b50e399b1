import { beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { wireName } from '../../../test/support/parts/log-row.ts';
import { NOON, numbersOf, TailedNode, upTo } from '../../../test/support/parts/tailed-node.ts';
import { until } from '../../../test/support/parts/until.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { STREAM_LIMITS } from './live-tail.ts';

const node = new TailedNode();

describe('GET /queries/stream', () => {
  test('accepts the filters of the log, including a filter that matches no rows', async () => {
    const queries = ['status!=CACHED', 'domain=ads&type=A', 'domain=nothing', 'node=node-b', 'node!=node-b'];
    queries.push(`from=${new Date(NOON + 3).toISOString()}&to=${new Date(NOON + 6).toISOString()}`);
    const [uncached, ads, nothing, ofB, notOfB, span] = await Promise.all(
      queries.map((query) => node.open(query)),
    );
    for (let i = 0; i < 10; i++) {
      const status = i % 2 === 0 ? QueryStatus.CACHED : QueryStatus.BLOCKED_LIST;
      node.append(i, 1, { status, qname: wireName(i % 3 === 0 ? 'ads.example.org' : 'www.example.org') });
    }
    await notOfB!.count(10);
    expect([uncached, ads, span].map((reader) => numbersOf(reader!))).toEqual([
      [1, 3, 5, 7, 9],
      [0, 3, 6, 9],
      [3, 4, 5],
    ]);
    expect([nothing!.events, ofB!.events]).toEqual([[], []]);
  });

  test.each([
    ['status=NONE', 'status'],
    ['limit=5', 'limit'],
    ['period=1h&from=2026-01-01T00:00:00Z', 'period'],
  ])('refuses %s, and names the parameter', async (query, path) => {
    const answer = await node.api.send('GET', `/api/queries/stream?${query}`);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });

  test('responds to HEAD, and reads no rows before the first stream is opened and after the last one ends', async () => {
    expect((await node.api.send('HEAD', '/api/queries/stream')).headers['content-type']).toMatch(
      /^text\/event-stream/,
    );
    expect(node.isShown).toBe(false);
    const reader = await node.open();
    await until('rows to be shown', () => node.isShown);
    reader.close();
    await until(
      'rows to be shown no more',
      () => node.isShown,
      (isShown) => !isShown,
    );
  });

  test(`accepts ${STREAM_LIMITS.total} of a thousand requested streams`, async () => {
    const attempts = await Promise.allSettled(upTo(1000).map(() => node.open()));
    const taken = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    const places = taken.filter(({ response }) => response.statusCode === 200);
    expect(places).toHaveLength(STREAM_LIMITS.total);
    const refused = taken.filter(({ response }) => response.statusCode !== 200);
    expect(new Set(refused.map(({ response }) => response.statusCode))).toEqual(new Set([429]));
    expect(refused[0]!.response.headers['retry-after']).toBe('10');
    node.append(0, 10);
    for (const reader of places) await reader.count(10);
    places[0]!.close();
    await until(
      'a free place',
      async () => (await node.open()).response.statusCode,
      (now) => now === 200,
    );
  });

  test('ends when Weir stops, and accepts no new stream', async () => {
    const reader = await node.open();
    await node.tail.close();
    await until('the stream to end', () => reader.isEnded);
    expect(node.isShown).toBe(false);
    expect((await node.api.send('GET', '/api/queries/stream')).status).toBe(503);
  });
});

describe('GET /queries/stream of a session', () => {
  let session: string;
  beforeEach(async () => {
    await asOwner(node.own.database, 'TRUNCATE sessions, admin_credential, login_failures');
    await node.stop();
    await node.start('');
    await node.api.setUp();
    session = await node.api.logIn();
  });

  test('requires a session', async () => {
    expect((await node.api.send('GET', '/api/queries/stream')).status).toBe(401);
  });

  test(`accepts ${STREAM_LIMITS.perCaller} streams of one user, in all sessions`, async () => {
    const again = await node.api.logIn();
    const taken = upTo(STREAM_LIMITS.perCaller).map((number) =>
      node.open('', number % 2 === 0 ? session : again),
    );
    const statuses = (await Promise.all(taken)).map(({ response }) => response.statusCode);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await node.open('', session)).response.statusCode).toBe(429);
  });

  test('ends when its session logs out, while streams of other sessions continue', async () => {
    const other = await node.api.logIn();
    const [mine, theirs] = await Promise.all([node.open('', session), node.open('', other)]);
    await node.api.send('POST', '/api/auth/logout', { session, json: {} });
    await until('the stream of the session to end', () => mine.isEnded);
    node.append(0, 1);
    await theirs.count(1);
    expect([mine.rows, theirs.isEnded]).toEqual([[], false]);
  });

  test('ends when another node has ended its session, or when the session has expired', async () => {
    const reader = await node.open('', session);
    await node.own.database.query('DELETE FROM sessions');
    await until('the stream to end', () => reader.isEnded);
  });

  test('ends if its session cannot be read from the database and is not cached', async () => {
    const reader = await node.open('', session);
    const { sessions } = node.api.parts.auth;
    const of = sessions.of.bind(sessions);
    let checks = 0;
    sessions.of = async (secrets) => {
      checks++;
      await of(secrets);
      throw new Error('the database is away');
    };
    await until('the stream to end', () => reader.isEnded);
    expect(checks).toBe(1);
  });
});
