/**
 * The web server behind a load balancer that sends PROXY headers: setup, sessions, lockout, audit log and limits use
 * the address of the client.
 */
import { describe, expect, test } from '@jest/globals';
import type { AuditLogPage } from '../../../shared/api/audit-api.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { headerFor, headerOf, LOCAL_HEADER } from '../../support/parts/proxy-headers.ts';
import { PASSWORD, type RunningApi, sessionCookie } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { serveSuite } from '../../support/parts/served-suite.ts';

const ON = 'server.proxy_protocol_enabled = true';
const ONE = headerFor('192.0.2.1');
const OTHER = headerFor('2001:db8::2');

let api: RunningApi;
const restart = serveSuite(everyRoute(), (served) => ({ api } = served), { toml: ON, perTest: true });

function logIn(proxyHeader: Uint8Array, password = PASSWORD): Promise<TestAnswer> {
  return api.send('POST', '/api/auth/login', { json: { username: 'admin', password }, proxyHeader });
}

describe('the web behind a load balancer', () => {
  test.each([
    ['LOCAL', LOCAL_HEADER],
    ['no address', headerOf('21', '00', '')],
    ['127.0.0.1', headerFor('127.0.0.1')],
    ['::1', headerFor('::1')],
  ])('requires the setup code if the PROXY header has %s', async (_what, proxyHeader) => {
    const setUp = (more: object): Promise<TestAnswer> =>
      api.send('POST', '/api/auth/setup', { json: { password: PASSWORD, ...more }, proxyHeader });
    const refused = await setUp({});
    expect([refused.status, refused.problem.error]).toEqual([403, 'setup_code_required']);
    expect((await setUp({ setup_code: await api.setupCode.value() })).status).toBe(204);
  });

  test('accepts the setup from this machine if the load balancer is on another machine', async () => {
    await restart({ toml: `${ON}\nserver.proxy_protocol_trusted = ["127.0.0.9/32"]` });
    const json = { password: PASSWORD };
    await expect(api.send('POST', '/api/auth/setup', { json, proxyHeader: ONE })).rejects.toThrow();
    expect((await api.send('POST', '/api/auth/setup', { json })).status).toBe(204);
  });

  test('shows the address of the client in sessions and in the audit log', async () => {
    await api.setUp();
    const session = sessionCookie(await logIn(OTHER))!.secret;
    const as = { session, proxyHeader: ONE };
    expect((await api.send('GET', '/api/auth/sessions', as)).body).toEqual([
      expect.objectContaining({ ip_address: '2001:db8::2' }),
    ]);
    await api.send('POST', '/api/groups', { ...as, json: { name: 'Kids' } });
    const { body } = await api.send('GET', '/api/audit-log?action=created', as);
    expect((body as AuditLogPage).data.map(({ address }) => address)).toContain('192.0.2.1');
  });

  test('locks out the address that guesses passwords, not the load balancer', async () => {
    await api.setUp();
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await logIn(ONE, 'wrong password')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect([(await logIn(ONE)).status, (await logIn(OTHER)).status]).toEqual([429, 200]);
  });

  test('limits the requests of each client', async () => {
    await restart({ toml: ON, requestRate: { perSecond: 1, burst: 1 } });
    const statuses = [];
    for (const proxyHeader of [ONE, ONE, OTHER, headerFor('2001:db8::3')])
      statuses.push((await api.send('GET', '/api/health', { proxyHeader })).status);
    expect(statuses).toEqual([200, 429, 200, 429]);
  });

  test('checks the Host header and the origin', async () => {
    const evil = await api.send('GET', '/', { headers: { host: 'evil.example' }, proxyHeader: ONE });
    const cross = await api.send('POST', '/api/auth/logout', {
      headers: { origin: 'http://evil.example' },
      proxyHeader: ONE,
    });
    expect([evil.status, cross.status]).toEqual([421, 403]);
  });
});
