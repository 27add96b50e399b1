/**
 * An API token as the password of a program for Pi-hole's API, so that it does not need an administrator's password.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { SessionList } from '../../../shared/api/auth-api.ts';
import type { CreatedToken } from '../../../shared/api/tokens-api.ts';
import { CompatSuite, errorIn, sessionIn } from '../../support/parts/compat-suite.ts';
import { makeToken } from '../../support/parts/people.ts';

const compat = new CompatSuite();
const SUMMARY = '/api/stats/summary';
let session: string;
let viewer: CreatedToken;
beforeEach(async () => {
  await compat.api.setUp();
  session = await compat.api.logIn();
  viewer = await makeToken(compat.api, session, { name: 'dashboard', role: 'viewer' });
});

async function sidOf(key: string): Promise<string> {
  return sessionIn(await compat.logInAnswer(key)).sid!;
}

describe('an API token used as the password', () => {
  test('opens a session with the role and the name of the token', async () => {
    const sid = await sidOf(viewer.key);
    expect((await compat.get(SUMMARY, sid)).status).toBe(200);
    expect((await compat.api.send('GET', '/svc/api/groups', { headers: { sid } })).status).toBe(200);
    const json = { name: 'Kids' };
    expect((await compat.api.send('POST', '/svc/api/groups', { headers: { sid }, json })).status).toBe(403);
    const listed = SessionList.parse(
      (await compat.api.send('GET', '/svc/api/auth/sessions', { headers: { sid } })).body,
    );
    expect(listed.map(({ username, role, current }) => [username, role, current])).toEqual([
      ['token dashboard', 'viewer', true],
    ]);
  });

  test.each<[string, (id: number) => readonly ['DELETE' | 'PUT', string, object?]]>([
    ['revoked', (id) => ['DELETE', `/svc/api/api-tokens/${id}`]],
    ['given another key', (id) => ['PUT', `/svc/api/api-tokens/${id}`, { key: 'k7Qm2xVt9ZrB4nWs8LdP' }]],
    ['given another role', (id) => ['PUT', `/svc/api/api-tokens/${id}`, { role: 'admin' }]],
  ])('ends its session when it is %s', async (_how, change) => {
    const sid = await sidOf(viewer.key);
    const [method, path, json] = change(viewer.id);
    const answer = await compat.api.send(method, path, { session, ...(json === undefined ? {} : { json }) });
    expect(answer.status).toBe(method === 'PUT' ? 200 : 204);
    expect((await compat.get(SUMMARY, sid)).status).toBe(401);
  });

  test('is accepted from a locked-out address; a wrong token counts as a wrong password', async () => {
    const wrong = `${viewer.key.slice(0, -1)}${viewer.key.endsWith('Z') ? 'Y' : 'Z'}`;
    for (let n = 0; n < 5; n++) expect((await compat.logInAnswer(wrong)).status).toBe(401);
    const locked = await compat.logInAnswer(`${viewer.key}x`);
    expect([locked.status, errorIn(locked).key]).toEqual([429, 'rate_limiting']);
    expect((await compat.logInAnswer(viewer.key)).status).toBe(200);
  });

  test('is read from X-Api-Key only by the native API', async () => {
    const headers = { 'x-api-key': viewer.key };
    const refused = await compat.send('GET', SUMMARY, { headers });
    expect([refused.status, errorIn(refused).key]).toEqual([401, 'unauthorized']);
    expect((await compat.api.send('GET', '/svc/api/groups', { headers })).status).toBe(200);
  });
});
