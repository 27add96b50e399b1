/** Host names that the web server accepts: a page of another site must not be able to act as Weir. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { everyRoute } from '../../support/parts/every-route.ts';
import { PASSWORD, RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

describe('the Host header of a request', () => {
  const withHost = (host: string, path = '/api/health'): Promise<TestAnswer> =>
    api.send('GET', path, { headers: { host } });

  test.each([
    '127.0.0.1',
    '127.0.0.1:8080',
    '192.0.2.1:80',
    '[::1]:8080',
    '[2001:DB8::1]',
    'localhost',
    'LocalHost:8080',
    'localhost.',
    'node-a',
    'NODE-A.:8080',
  ])('%s is accepted', async (host) => {
    expect((await withHost(host)).status).toBe(200);
  });

  test.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'node-a.evil.example',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[evil.example]',
    '[::1]evil.example',
    '127.0.0.1:80:80',
    '127.0.0.1:x',
    'user@127.0.0.1',
    'weir.example"><b>',
  ])('%s is answered with 421, for the API and for pages', async (host) => {
    for (const path of ['/api/health', '/', '/docs', '/svc-config.js', '/nowhere']) {
      const answer = await withHost(host, path);
      expect([path, answer.status, answer.problem.error]).toEqual([path, 421, 'misdirected']);
    }
  });

  test('is rejected for a change from a page whose name was rebound to this machine (DNS rebinding)', async () => {
    const headers = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' };
    const json = { password: PASSWORD };
    expect((await api.send('POST', '/api/auth/setup', { headers, json })).status).toBe(421);
    expect((await api.send('GET', '/api/auth/status')).body).toMatchObject({ password_configured: false });
  });

  test('may be a name in server.allowed_hosts, but not its subdomains', async () => {
    const node = await RunningApi.start(suite.database, everyRoute(), {
      toml: 'server.allowed_hosts = ["Weir.example."]',
    });
    const statuses = [];
    for (const host of ['weir.example:8080', 'www.weir.example'])
      statuses.push((await node.send('GET', '/api/health', { headers: { host } })).status);
    await node.close();
    expect(statuses).toEqual([200, 421]);
  });

  test('is read from the forwarded header of a trusted proxy only', async () => {
    const headers = { 'x-forwarded-host': 'evil.example' };
    expect((await api.send('GET', '/api/health', { headers })).status).toBe(200);
    const behindProxy = await RunningApi.start(suite.database, everyRoute(), {
      toml: 'server.trusted_proxies = ["127.0.0.1/32"]\nserver.allowed_hosts = ["weir.example"]',
    });
    const own = { 'x-forwarded-host': 'weir.example' };
    const foreign = await behindProxy.send('GET', '/api/health', { headers });
    const proper = await behindProxy.send('GET', '/api/health', { headers: own });
    await behindProxy.close();
    expect([foreign.status, proper.status]).toEqual([421, 200]);
  });

  test.each([
    ['the host of the field', 'http://127.0.0.1/api/health', 200],
    ['another host', 'http://evil.example/api/health', 400],
    ['no URL', 'x:y', 400],
  ])('is checked if the request target contains %s', async (_what, target, status) => {
    const socket = connect(api.port, '127.0.0.1');
    socket.end(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});
