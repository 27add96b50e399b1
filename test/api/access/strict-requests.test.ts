/** Query strings are validated as strictly as bodies, and malformed requests get 400 or 503, never 500. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { CacheContents } from '../../../control-plane/resolving/cache/cache-contents.ts';
import { CacheHead, createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { everyRoute, everyRow } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

let suite: SuiteDatabase;
let api: RunningApi;
const cache = createAnswerCache(1_048_576);

beforeAll(async () => {
  suite = await openSuiteDatabase();
  const overrides = { cache: new CacheContents(cache, () => 0) };
  api = await RunningApi.start(suite.database, everyRoute(overrides));
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const rows = everyRow.map((route) => ({ ...route, name: `${route.method} ${route.path}` }));

function pathOf(route: { path: string }): string {
  return `/api${route.path.replaceAll(/\{\w+\}/g, '1')}`;
}

function badParameters(answer: TestAnswer): (readonly [string, string])[] {
  expect([answer.status, answer.problem.error]).toEqual([400, 'invalid']);
  return answer.problem.errors!.map(({ path, message }) => [path, message] as const);
}

/** The response to raw bytes. */
async function sendBytes(request: string): Promise<string> {
  const socket = connect(api.port, '127.0.0.1');
  socket.end(request);
  return text(socket);
}

describe('query strings', () => {
  test.each(rows)('$name rejects unknown parameters', async (route) => {
    const answer = await api.send(route.method, `${pathOf(route)}?domian=x&__proto__=1`);
    expect(badParameters(answer)).toEqual(
      expect.arrayContaining([
        ['domian', 'unknown parameter'],
        ['__proto__', 'unknown parameter'],
      ]),
    );
  });

  test.each(rows)('$name rejects a duplicate parameter, and a parameter that is not UTF-8', async (route) => {
    const answer = await api.send(route.method, `${pathOf(route)}?limit=1&limit=2&%ff=1&type=%zz`);
    expect(badParameters(answer)).toEqual([
      ['limit', 'given more than once'],
      ['', 'expected percent-encoded UTF-8'],
      ['type', 'expected percent-encoded UTF-8'],
    ]);
  });

  test.each(['0x10', '1e2', '+5', '-1', '1.0', ' 5', '5 ', '', '007', 'NaN', '99999999999999999999'])(
    'a number written as %j is rejected in every numeric parameter',
    async (value) => {
      for (const [path, name] of [
        ['/queries', 'limit'],
        ['/queries', 'offset'],
        ['/queries', 'group_id'],
        ['/clients', 'group_id'],
        ['/clients/stats', 'limit'],
        ['/services', 'group_id'],
        ['/blocklist', 'limit'],
      ] as const) {
        const answer = await api.send('GET', `/api${path}?${name}=${encodeURIComponent(value)}`);
        expect([path, badParameters(answer)[0]![0]]).toEqual([path, name]);
      }
    },
  );

  test('every paged list has at most 1,000 rows per page (CVE-2026-33256)', async () => {
    const paged = rows.filter(
      ({ query }) => 'limit' in ((query as unknown as { shape?: object } | undefined)?.shape ?? {}),
    );
    expect(paged.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/queries', '/clients', '/audit-log', '/cache/entries', '/stats/top_domains']),
    );
    for (const route of paged.filter(({ method }) => method === 'GET'))
      for (const limit of ['1001', '0', '1e9']) {
        const answer = await api.send('GET', `${pathOf(route)}?limit=${limit}`);
        expect([route.path, badParameters(answer)[0]![0]]).toEqual([route.path, 'limit']);
      }
  });

  test('numbers in decimal digits are accepted, and spaces encoded as +', async () => {
    const page = await api.send('GET', '/api/queries?limit=16&offset=0&&domain=a+b');
    expect([page.status, page.body]).toEqual([200, expect.objectContaining({ limit: 16, offset: 0 })]);
  });

  test('DELETE cache/entries with a misspelled filter deletes nothing', async () => {
    let drops = 0;
    const counted = new CacheContents(cache, () => 0);
    counted.drop = async () => ++drops;
    const other = await RunningApi.start(suite.database, everyRoute({ cache: counted }));
    badParameters(await other.send('DELETE', '/api/cache/entries?domian=x'));
    await other.close();
    expect(drops).toBe(0);
  });
});

test('DELETE cache/entries is 503 with Retry-After while a worker has the cache locked', async () => {
  const head = new Int32Array(cache, 0, CacheHead.BYTES >>> 2);
  Atomics.store(head, CacheHead.LOCK_WORD, 1);
  const answer = await api.send('DELETE', '/api/cache/entries');
  Atomics.store(head, CacheHead.LOCK_WORD, 0);
  expect([answer.status, answer.problem.error, answer.headers['retry-after']]).toEqual([503, 'busy', '1']);
  expect((await api.send('DELETE', '/api/cache/entries')).status).toBe(204);
});

describe('a request without exactly one Host header', () => {
  test.each([
    ['in HTTP/1.1', '/', 'HTTP/1.1', ''],
    ['in HTTP/1.0, with an Origin', '/api/health', 'HTTP/1.0', 'Origin: http://127.0.0.1\r\n'],
    ['that changes something', '/api/auth/logout', 'HTTP/1.0', 'Origin: http://127.0.0.1\r\n'],
    ['with an empty one', '/', 'HTTP/1.1', 'Host:\r\n'],
    ['with two', '/', 'HTTP/1.1', 'Host: 127.0.0.1\r\nHost: evil.example\r\n'],
  ])('%s is 400', async (_what, path, protocol, fields) => {
    const method = path.endsWith('logout') ? 'POST' : 'GET';
    const answer = await sendBytes(`${method} ${path} ${protocol}\r\n${fields}Connection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(api.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
