/** Hostile requests to the compatibility API. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { CompatSuite, errorIn, sessionIn } from '../../../test/support/parts/compat-suite.ts';
import { PASSWORD } from '../../../test/support/parts/running-api.ts';

const compat = new CompatSuite();
beforeEach(() => compat.api.setUp());

const SUMMARY = '/api/stats/summary';

/** The response to bytes on a new connection; empty if the connection is cut. */
async function raw(octets: string): Promise<string> {
  const socket = connect(compat.api.port, '127.0.0.1');
  // A write to a connection that is cut may fail.
  socket.on('error', () => undefined);
  socket.end(octets);
  return text(socket).catch(() => '');
}

describe('a hostile request to the compatibility API', () => {
  test('with a malformed session ID gets 401', async () => {
    const lengths = [42, 44, 8000].map((length) => 'A'.repeat(length));
    for (const sid of ['', ' ', '.', "' OR 1=1 --", '__proto__', '\u00e9', ...lengths]) {
      for (const headers of [{ sid }, { 'x-ftl-sid': sid }, { cookie: `sid=${encodeURIComponent(sid)}` }])
        expect((await compat.send('GET', SUMMARY, { headers })).status).toBe(401);
      expect((await compat.send('GET', `${SUMMARY}?sid=${encodeURIComponent(sid)}`)).status).toBe(401);
      expect((await compat.send('GET', SUMMARY, { raw: JSON.stringify({ sid }) })).status).toBe(401);
    }
  });

  test('with several session IDs in one header field, or hundreds of cookies, finds no session', async () => {
    const sid = await compat.logIn();
    const many = Array.from({ length: 500 }, (_, i) => `c${String(i)}=${'x'.repeat(10)}`).join('; ');
    expect((await compat.send('GET', SUMMARY, { headers: { cookie: many } })).status).toBe(401);
    expect((await compat.send('GET', SUMMARY, { headers: { cookie: `${many}; sid=${sid}` } })).status).toBe(
      200,
    );
    const twice = `GET ${SUMMARY} HTTP/1.1\r\nHost: localhost\r\nsid: ${sid}\r\nsid: ${sid}\r\nConnection: close\r\n\r\n`;
    expect(await raw(twice)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('with 100 kB of cookies is truncated, and the server continues', async () => {
    const cookies = `sid=${'A'.repeat(100_000)}`;
    const answer = await raw(`GET ${SUMMARY} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookies}\r\n\r\n`);
    expect(answer === '' || answer.startsWith('HTTP/1.1 431 ')).toBe(true);
    expect((await compat.send('GET', '/api/auth')).status).toBe(401);
  });

  test('whose body is not an object, or has no password as its own property, opens no session', async () => {
    const inherited = ['{"__proto__":{"password":"x"}}', '{"constructor":1}'];
    for (const body of ['[]', '7', 'null', '"x"', '{', ...inherited]) {
      const answer = await compat.send('POST', '/api/auth', { raw: body });
      expect([answer.status, errorIn(answer).key]).toEqual([400, 'bad_request']);
    }
  });

  test('with a deeply nested or long body is rejected', async () => {
    const deep = await compat.send('POST', '/api/auth', { raw: '['.repeat(10_000) });
    expect([deep.status, errorIn(deep).key]).toEqual([400, 'bad_request']);
    const long = await compat.send('POST', '/api/auth', { raw: 'x'.repeat(100_000) });
    expect([long.status, errorIn(long).key]).toEqual([413, 'bad_request']);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await compat.send('GET', SUMMARY, { raw: 'x'.repeat(100_000), headers: chunked })).status).toBe(
      413,
    );
  });

  test('from another origin cannot log in or out and does not count as a failed login', async () => {
    const sid = await compat.logIn();
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: 'http://chrome-extension.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'chrome-extension://a.b/..' },
      { 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[])
      for (let i = 0; i < 3; i++) {
        const wrong = await compat.logInAnswer('wrong password', headers);
        expect([wrong.status, errorIn(wrong).key]).toEqual([403, 'forbidden']);
        expect((await compat.send('DELETE', '/api/auth', { headers: { sid, ...headers } })).status).toBe(403);
      }
    expect(
      (await compat.logInAnswer(PASSWORD, { origin: `http://127.0.0.1:${compat.api.port}` })).status,
    ).toBe(200);
    expect((await compat.get(SUMMARY, sid)).status).toBe(200);
  });

  test('to another host, or with an upgrade to another protocol, is rejected with an error of this API', async () => {
    const misdirected = await compat.send('GET', '/api/auth', { headers: { host: 'evil.example' } });
    expect([misdirected.status, errorIn(misdirected).key]).toEqual([421, 'bad_request']);
    const upgrade = await compat.send('GET', SUMMARY, {
      headers: { connection: 'upgrade', upgrade: 'websocket' },
    });
    expect([upgrade.status, errorIn(upgrade).key]).toEqual([400, 'bad_request']);
    const native = await compat.api.send('GET', '/svc/api/health', { headers: { host: 'evil.example' } });
    expect(native.problem.error).toBe('misdirected');
  });

  test('with HEAD gets 404 on every path, as in Pi-hole', async () => {
    const sid = await compat.logIn();
    for (const path of [SUMMARY, '/api/auth', '/api/nothing']) {
      const answer = await compat.api.send('HEAD', path, { headers: { sid } });
      expect([path, answer.status, answer.text]).toEqual([path, 404, '']);
    }
    expect((await compat.get(SUMMARY, sid)).status).toBe(200);
  });

  test('with OPTIONS returns the methods of a path, without a session and without CORS', async () => {
    const auth = await compat.send('OPTIONS', '/api/auth', { headers: { origin: 'http://evil.example' } });
    expect([auth.status, auth.text, auth.headers['allow']]).toEqual([204, '', 'GET, POST, DELETE, OPTIONS']);
    const names = Object.keys(auth.headers).filter((name) => name.startsWith('access-control'));
    expect(names).toEqual([]);
    expect((await compat.send('OPTIONS', SUMMARY)).headers['allow']).toBe('GET, OPTIONS');
    const unknown = await compat.send('OPTIONS', '/api/nothing');
    expect([unknown.status, unknown.headers['allow']]).toEqual([204, 'OPTIONS']);
  });

  test.each(['chrome-extension://abcdefghijklmnop', 'moz-extension://5a1f-09'])(
    'from the browser extension %s can log in and out',
    async (origin) => {
      const headers = { origin, 'sec-fetch-site': 'cross-site' };
      const opened = await compat.logInAnswer(PASSWORD, headers);
      expect([opened.status, sessionIn(opened).valid]).toEqual([200, true]);
      const ended = await compat.send('DELETE', '/api/auth', {
        headers: { ...headers, sid: sessionIn(opened).sid! },
      });
      expect(ended.status).toBe(204);
      expect((await compat.api.send('POST', '/svc/api/auth/login', { headers, json: {} })).status).toBe(403);
    },
  );

  test('for the host pi.hole is answered, because programs find Pi-hole by that name', async () => {
    for (const host of ['pi.hole', 'PI.HOLE.:8080'])
      expect((await compat.send('GET', '/api/auth', { headers: { host } })).status).toBe(401);
  });

  test('to an unknown path gets 404, and the error names the path', async () => {
    const odd = ['/api/%', '/api/%ff', '/api/..%2f..', '/api/auth%00'];
    for (const path of [...odd, '/api//auth', '/api/__proto__', '/api/auth/x']) {
      const answer = await compat.send('GET', path);
      expect([answer.status, errorIn(answer).hint]).toEqual([404, path]);
    }
  });

  test('leaves no session ID in the log, wherever it is sent', async () => {
    const sid = await compat.logIn();
    await compat.send('GET', `${SUMMARY}?sid=${sid}`);
    await compat.send('GET', `/api/nothing?sid=${sid}`);
    await compat.send('GET', SUMMARY, { raw: `sid=${sid}` });
    await compat.send('POST', `/api/auth?sid=${sid}`, { raw: '{' });
    expect(JSON.stringify(compat.api.logger.lines)).not.toContain(sid);
  });

  test('gets responses that must not be cached or framed', async () => {
    const { headers } = await compat.send('GET', '/api/auth');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect([headers['x-frame-options'], headers['x-content-type-options']]).toEqual(['DENY', 'nosniff']);
    expect(sessionIn(await compat.send('GET', '/api/auth/')).valid).toBe(false);
  });
});
