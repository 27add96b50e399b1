/** The limit on the requests of a client network. It covers everything that the web server serves. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOCKET_NAME } from '../../../control-plane/api/socket-name.ts';
import { createApp } from '../../../control-plane/web/server/app.ts';
import { startLocalServer } from '../../../control-plane/web/edge/local-server.ts';
import { WEB_RATE } from '../../../control-plane/web/edge/request-limits.ts';
import { CompatError } from '../../../shared/api/compat/compat-api.ts';
import { everyCompatRoute, everyRoute } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import type { ApiOptions, TestAnswer } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';
import { within } from '../../support/parts/until.ts';

const BURST = 3;
/** Requests from addresses that a trusted proxy reports. */
const PROXIED = 'server.trusted_proxies = ["127.0.0.0/8"]';

let suite: SuiteDatabase;
let api: RunningApi;
const others: RunningApi[] = [];

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await start({ toml: PROXIED });
});
afterAll(async () => {
  for (const each of others) await each.close();
  await suite.close();
});

async function start(options: ApiOptions): Promise<RunningApi> {
  const requestRate = { perSecond: 1, burst: BURST };
  const started = await RunningApi.start(suite.database, everyRoute(), { requestRate, ...options });
  others.push(started);
  return started;
}

function from(address: string, method = 'GET', path = '/api/health', to = api): Promise<TestAnswer> {
  return to.send(method, path, { headers: { 'x-forwarded-for': address } });
}

/** Uses up the limit of an address. */
async function exhaust(address: string, to = api): Promise<void> {
  for (let n = 0; n < BURST; n++) expect((await from(address, 'GET', '/api/health', to)).status).toBe(200);
}

describe('the rate limit for HTTP requests', () => {
  test('counts all paths together, and the response states when to retry', async () => {
    await exhaust('192.0.2.1');
    for (const [method, path] of [
      ['GET', '/api/health'],
      ['GET', '/api/groups'],
      ['POST', '/api/auth/login'],
      ['PUT', '/api/nothing'],
      ['TRACE', '/api/health'],
      ['GET', '/'],
      ['GET', '/docs'],
      ['GET', '/check'],
      ['POST', '/check/probes'],
      ['GET', '/login/oidc'],
      ['GET', '/svc-config.js'],
      ['GET', '/metrics'],
      ['GET', '/dns-query?dns=AAABAAABAAAAAAAAAAABAAE'],
      ['GET', '/%zz'],
    ] as const) {
      const answer = await from('192.0.2.1', method, path);
      expect([path, answer.status, answer.problem.error]).toEqual([path, 429, 'rate_limited']);
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    }
  });

  test('applies to each address separately, and ends after some time', async () => {
    await exhaust('192.0.2.2');
    expect((await from('192.0.2.2')).status).toBe(429);
    await exhaust('192.0.2.3');
    api.clock.advanceSecs(1);
    expect([(await from('192.0.2.2')).status, (await from('192.0.2.2')).status]).toEqual([200, 429]);
  });

  test('applies to each IPv6 /64', async () => {
    await exhaust('2001:db8::1');
    expect((await from('2001:db8::2')).status).toBe(429);
    expect((await from('2001:db8:0:1::1')).status).toBe(200);
  });

  test('counts requests with a session, a token or invalid credentials alike', async () => {
    const own = await start({ toml: '' });
    await own.setUp();
    const session = await own.logIn();
    expect((await own.send('GET', '/api/groups', { session })).status).toBe(200);
    expect((await own.send('GET', '/api/groups', { headers: { 'x-api-key': 'x' } })).status).toBe(401);
    expect((await own.send('GET', '/api/groups', { session })).status).toBe(429);
    own.clock.advanceSecs(1);
    expect((await own.send('GET', '/api/groups', { session })).status).toBe(200);
  });

  test('ignores a forwarded address from an untrusted client', async () => {
    const direct = await start({});
    for (let n = 0; n < BURST; n++) expect((await from(`192.0.2.${n}`, 'GET', '/', direct)).status).toBe(200);
    expect((await from('192.0.2.99', 'GET', '/', direct)).status).toBe(429);
  });

  test('applies before the Host check and before the redirect to HTTPS', async () => {
    await exhaust('192.0.2.4');
    const headers = { 'x-forwarded-for': '192.0.2.4', host: 'evil.example' };
    expect((await api.send('GET', '/', { headers })).status).toBe(429);
  });

  test('responds in the format of the compatibility API on the paths of that API', async () => {
    const compat = await start({ toml: `server.alt_compat = true\n${PROXIED}`, compat: everyCompatRoute() });
    for (let n = 0; n < BURST; n++) await from('192.0.2.5', 'GET', '/api/info/version', compat);
    const answer = await from('192.0.2.5', 'GET', '/api/auth', compat);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1']);
    expect(CompatError.parse(answer.body).error).toEqual({
      key: 'rate_limiting',
      message: 'Rate-limiting requests',
      hint: 'too many requests from this address',
    });
    expect((await from('192.0.2.5', 'GET', '/svc/api/health', compat)).problem.error).toBe('rate_limited');
  });

  test('does not apply to the local socket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-limit-'));
    const stop = await startLocalServer(createApp(api.parts, api.routes), folder, api.logger);
    const statuses = [];
    for (let n = 0; n < 2 * BURST; n++) {
      const sent = request({
        socketPath: join(folder, SOCKET_NAME),
        path: '/api/health',
        agent: false,
      }).end();
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      const [answer] = await within('an answer on the local socket', answered);
      statuses.push(answer.resume().statusCode);
      await within('the end of the answer', once(answer, 'end'));
    }
    await stop();
    await rm(folder, { recursive: true });
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test("allows the usual requests of a dashboard, Grafana and administrators' programs", async () => {
    const real = await start({ requestRate: WEB_RATE });
    const statuses = new Set<number>();
    const ask = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) statuses.add((await real.send('GET', '/svc-config.js')).status);
    };
    // The requests of a page in one burst, then 50 requests a second.
    await ask(100);
    for (let second = 0; second < 5; second++) {
      real.clock.advanceSecs(1);
      await ask(50);
    }
    expect(statuses).toEqual(new Set([200]));
  });
});
