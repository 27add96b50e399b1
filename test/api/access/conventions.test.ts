/** Conventions of all routes: access, meaning of statuses, and limits of all input. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { everyRoute, everyRow } from '../../support/parts/every-route.ts';
import { logInAs, makeUser } from '../../support/parts/people.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

let suite: SuiteDatabase;
let api: RunningApi;
/** API on the same database, with authentication disabled. */
let openApi: RunningApi;
/** Sessions of an admin, a viewer and a user of the role family. */
let session: string;
let viewer: string;
let family: string;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  const names = 'server.acme.names = ["weir.example.org"]';
  api = await RunningApi.start(suite.database, everyRoute(), { toml: names });
  openApi = await RunningApi.start(suite.database, everyRoute(), { toml: `auth.enabled = false\n${names}` });
  await api.setUp();
  session = await api.logIn();
  await makeUser(api, session, { username: 'vera', role: 'viewer' });
  viewer = await logInAs(api, 'vera');
  await makeUser(api, session, { username: 'frida', role: 'family' });
  family = await logInAs(api, 'frida');
});
afterAll(async () => {
  await api.close();
  await openApi.close();
  await suite.close();
});

const rows = everyRow.map((route) => ({ ...route, name: `${route.method} ${route.path}` }));
const guarded = rows.filter((route) => route.access !== 'public');
const open = rows.filter((route) => route.access === 'public');
const withBody = rows.filter((route) => route.body !== undefined && route.bodyType === 'application/json');
const withId = rows.filter((route) => route.path.includes('{id}'));

function pathOf(route: { path: string }, id: string | number = 1): string {
  return `/api${route.path.replace('{id}', String(id)).replaceAll(/\{\w+\}/g, '1')}`;
}

function expectProblem(answer: TestAnswer, status: number, error: string): void {
  expect({ status: answer.status, error: answer.problem.error }).toEqual({ status, error });
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.problem.status).toBe(status);
}

describe('the authentication of routes', () => {
  test.each(guarded)('$name without credentials is 401 with a WWW-Authenticate challenge', async (route) => {
    const answer = await api.send(route.method, pathOf(route));
    expectProblem(answer, 401, 'unauthorized');
    expect(answer.headers['www-authenticate']).toMatch(/\S+ realm="weir"/);
  });

  test.each(guarded)('$name with an unknown session is 401', async (route) => {
    expectProblem(
      await api.send(route.method, pathOf(route), { session: 'A'.repeat(43) }),
      401,
      'unauthorized',
    );
    expectProblem(await api.send(route.method, pathOf(route), { session: 'j:{"a":1}' }), 401, 'unauthorized');
  });

  test.each(guarded)('$name with a valid session is handled', async (route) => {
    const answer = await api.send(route.method, pathOf(route, 99), { session });
    expect([200, 201, 202, 204, 400, 404, 415]).toContain(answer.status);
  });

  test.each(guarded)('$name with authentication disabled is handled', async (route) => {
    const answer = await openApi.send(route.method, pathOf(route, 99));
    expect([200, 201, 202, 204, 400, 404, 415]).toContain(answer.status);
  });

  test.each(guarded)(
    '$name for a viewer is 403 unless it only reads or concerns their own account',
    async (route) => {
      const answer = await api.send(route.method, pathOf(route, 99), { session: viewer });
      if (route.access === 'admin' || route.access === 'family') expectProblem(answer, 403, 'forbidden');
      else expect([200, 201, 202, 204, 400, 404, 415]).toContain(answer.status);
    },
  );

  test('an HTTP/2 upgrade over plain TCP gives no access without authentication (AdGuard Home CVE-2026-32136)', async () => {
    const headers = { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    for (const route of guarded) {
      const send = (who: { session?: string }): Promise<TestAnswer> =>
        api.send(route.method, pathOf(route, 99), { ...who, headers });
      expectProblem(await send({}), 401, 'unauthorized');
      expectProblem(await send({ session: 'A'.repeat(43) }), 401, 'unauthorized');
      if (route.access === 'admin') expectProblem(await send({ session: viewer }), 403, 'forbidden');
      if (route.access === 'viewer') expectProblem(await send({ session: family }), 403, 'forbidden');
    }
  });

  test.each(open)('$name needs no credentials', async (route) => {
    const answer = await api.send(route.method, pathOf(route));
    expect([200, 204, 400]).toContain(answer.status);
  });

  test('openapi.json requires a session', async () => {
    expectProblem(await api.send('GET', '/api/openapi.json'), 401, 'unauthorized');
    expect((await api.send('GET', '/api/openapi.json', { session })).status).toBe(200);
  });
});

describe('requests from other origins', () => {
  const changing = rows.filter((route) => route.method !== 'GET');

  test.each(changing)('$name from another origin is 403', async (route) => {
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${api.port + 1}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[])
      expectProblem(
        await api.send(route.method, pathOf(route, 99), { session, headers }),
        403,
        'cross_origin',
      );
  });

  test.each(changing)('$name from another origin is 403 even with authentication disabled', async (route) => {
    const headers = { origin: 'http://evil.example' };
    expectProblem(await openApi.send(route.method, pathOf(route, 99), { headers }), 403, 'cross_origin');
  });

  test('changes from the same origin are accepted, even behind a trusted TLS proxy', async () => {
    const proxied = await RunningApi.start(suite.database, everyRoute(), {
      toml: 'server.trusted_proxies = ["127.0.0.0/8"]\nserver.allowed_hosts = ["weir.example"]',
    });
    const own = { origin: `http://127.0.0.1:${proxied.port}`, 'sec-fetch-site': 'same-origin' };
    const direct = await proxied.send('POST', '/api/groups', {
      session,
      json: { name: 'Kids' },
      headers: own,
    });
    const headers = { origin: 'https://weir.example', 'x-forwarded-host': 'weir.example' };
    const behind = await proxied.send('POST', '/api/groups', { session, json: { name: 'Guests' }, headers });
    await proxied.close();
    expect([direct.status, behind.status]).toEqual([201, 201]);
  });

  test('no response allows another origin to read it', async () => {
    const answer = await api.send('GET', '/api/health', { headers: { origin: 'http://other.example' } });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });
});

describe('methods and paths', () => {
  const paths = [...new Set(everyRow.map((route) => route.path))];

  test.each(paths)(
    '%s answers OPTIONS with 204 and unsupported methods with 405, both with Allow',
    async (path) => {
      const methods = everyRow.filter((route) => route.path === path).map((route) => route.method as string);
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
      const allowedBy = (answer: TestAnswer): string[] =>
        answer.headers['allow']!.toString().split(', ').sort();
      const options = await api.send('OPTIONS', pathOf({ path }));
      expect([options.status, options.text, allowedBy(options)]).toEqual([204, '', allowed]);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
        if (methods.includes(method)) continue;
        const answer = await api.send(method, pathOf({ path }));
        expectProblem(answer, 405, 'method_not_allowed');
        expect(allowedBy(answer)).toEqual(allowed);
      }
    },
  );

  test('unknown paths are 404 in JSON, both under the API prefix and outside it', async () => {
    for (const path of [
      '/api',
      '/api/nothing',
      '/svc/api/health',
      '/nothing',
      '/api/auth',
      '/api/groups/1/x',
    ])
      expectProblem(await api.send('GET', path), 404, 'not_found');
  });

  test('a path with dot segments opens no file, in any encoding (AdGuard Home CVE-2026-41448)', async () => {
    const climbs = [
      '..',
      '%2e%2e',
      '.%2E',
      '..%2f..',
      '..%5c..',
      '..\\..',
      '%252e%252e',
      '.',
      '',
      '..;',
      '%00',
    ];
    const roots = ['/', '/api/', '/api/auth/status/', '/api/health/', '/docs/', '/svc-config.js/'];
    for (const root of roots)
      for (const climb of climbs)
        for (const target of ['api/groups', 'groups', 'etc/passwd', '../etc/passwd', 'weir.toml']) {
          const answer = await api.send('GET', `${root}${climb}/${target}`);
          expect([400, 401, 404]).toContain(answer.status);
          expect(answer.headers['content-type']).toContain('application/problem+json');
        }
  });

  test('a path that is not percent-encoded UTF-8 is 400', async () => {
    for (const path of ['/api/groups/%zz', '/api/groups/%ff%fe'])
      expectProblem(await api.send('GET', path), 400, 'malformed');
  });

  test.each(withId)(
    '$name responds with 400 to an ID that is not an integer, and names the ID',
    async (route) => {
      for (const id of ['abc', '1.5', '-1', '1e3', '%00', "1'--", '12345678901234567']) {
        const answer = await api.send(route.method, pathOf(route, id), { session });
        expectProblem(answer, 400, 'invalid');
        expect(answer.problem.errors![0]!.path).toBe('id');
      }
    },
  );

  test.each(withId)('$name responds with 404 to an ID above the maximum of every table', async (route) => {
    const json = route.body === undefined ? {} : { json: {} };
    for (const id of ['0', '2147483648', '999999999999999'])
      expectProblem(await api.send(route.method, pathOf(route, id), { session, ...json }), 404, 'not_found');
  });

  test('HEAD responds like GET, without the body', async () => {
    const answer = await api.send('HEAD', '/api/health');
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('request bodies', () => {
  test.each(withBody)('$name accepts only JSON, otherwise 415', async (route) => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      '',
    ]) {
      const headers = type === '' ? {} : { 'content-type': type };
      const answer = await api.send(route.method, pathOf(route), { session, raw: '{"name":"x"}', headers });
      expectProblem(answer, 415, 'unsupported_media_type');
    }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await api.send(route.method, pathOf(route), { session, raw: 'x', headers });
    expectProblem(answer, 415, 'unsupported_media_type');
  });

  test.each(withBody)('$name with malformed JSON is 400', async (route) => {
    const headers = { 'content-type': 'application/json' };
    for (const raw of [
      '{',
      '{"a":}',
      'nul',
      '{"a":1}x',
      '['.repeat(10_000),
      Buffer.from([0x22, 0xff, 0x22]),
    ]) {
      const answer = await api.send(route.method, pathOf(route), { session, raw, headers });
      expectProblem(answer, 400, 'malformed');
    }
  });

  test.each(withBody)('$name with a body that is not an object, or without a body, is 400', async (route) => {
    for (const json of [null, [], 'text', 1, true])
      expectProblem(await api.send(route.method, pathOf(route), { session, json }), 400, 'invalid');
    expectProblem(await api.send(route.method, pathOf(route), { session }), 400, 'invalid');
  });

  test.each(withBody)('$name reports every unknown field', async (route) => {
    const raw = '{"surprise":1,"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}';
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const answer = await api.send(route.method, pathOf(route), { session, raw, headers });
    expectProblem(answer, 400, 'invalid');
    const unknown = answer.problem.errors!.filter((fault) => fault.message === 'unknown field');
    expect(unknown.map((fault) => fault.path)).toEqual(['surprise', '__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test.each(withBody)('$name with a body over the limit is 413', async (route) => {
    const raw = JSON.stringify({ name: 'x'.repeat(route.bodyLimitBytes) });
    const headers = { 'content-type': 'application/json' };
    expectProblem(await api.send(route.method, pathOf(route), { session, raw, headers }), 413, 'too_large');
    const chunked = { ...headers, 'transfer-encoding': 'chunked' };
    const answer = await api.send(route.method, pathOf(route), { session, raw, headers: chunked });
    expectProblem(answer, 413, 'too_large');
  });

  test('routes without a body accept an empty body or {}, and no other body', async () => {
    expect((await api.send('POST', '/api/auth/logout')).status).toBe(204);
    expect((await api.send('POST', '/api/auth/logout', { json: {} })).status).toBe(204);
    const answer = await api.send('POST', '/api/auth/logout', { json: { all: true } });
    expectProblem(answer, 400, 'invalid');
    expect(answer.problem.errors!).toEqual([{ path: 'all', message: 'unknown field' }]);
  });

  test('a request that ends in the middle of its body does not affect the server', async () => {
    const socket = connect(api.port, '127.0.0.1');
    const head =
      'POST /api/auth/logout HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n';
    socket.write(`${head}\r\n{"a":`);
    await once(socket, 'connect');
    socket.destroy();
    expect((await api.send('GET', '/api/health')).status).toBe(200);
    expect(api.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('header fields', () => {
  test.each([
    '/api/health',
    '/api/nothing',
    '/',
    '/docs',
    '/check',
    '/login/oidc',
    '/svc-config.js',
    '/api/groups',
  ])('%s has the security header fields for browsers', async (path) => {
    const { headers } = await api.send('GET', path);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
    expect(headers['permissions-policy']).toContain('camera=()');
    // These header fields apply only to TLS: over plain HTTP, browsers report them as errors.
    expect(headers['cross-origin-opener-policy']).toBeUndefined();
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['strict-transport-security']).toBeUndefined();
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['x-powered-by']).toBeUndefined();
    // Only this file is identical for all clients. It may be cached, but must be revalidated before each use.
    const isKept = path === '/svc-config.js';
    expect(headers['cache-control']).toBe(isKept ? 'no-cache' : 'no-store');
    expect(headers['etag'] !== undefined).toBe(isKept);
  });

  test('an Upgrade header is rejected, except for an offer of HTTP/2, which is ignored', async () => {
    const websocket = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    expectProblem(await api.send('GET', '/api/health', { headers: websocket }), 400, 'upgrade_refused');
    const http2 = { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    expect((await api.send('GET', '/api/health', { headers: http2 })).status).toBe(200);
  });
});
