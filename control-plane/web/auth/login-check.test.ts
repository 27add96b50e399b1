/** Limits on failed logins, per address and per user name. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { PASSWORD, RunningApi, sessionCookie } from '../../../test/support/parts/running-api.ts';
import { AuthSuite } from '../../../test/support/parts/auth-suite.ts';

const node = new AuthSuite();

describe('the lockout after failed logins', () => {
  beforeEach(() => node.api.setUp());

  async function failTimes(count: number, headers: Record<string, string> = {}): Promise<number[]> {
    const statuses = [];
    for (let n = 0; n < count; n++) statuses.push((await node.logIn('wrong password', { headers })).status);
    return statuses;
  }

  test('counts concurrent attempts one by one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => node.logIn('wrong password')));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  test('is reset by a successful login, and after its time window', async () => {
    await failTimes(4);
    expect((await node.logIn(PASSWORD)).status).toBe(200);
    expect(await failTimes(4)).toEqual([401, 401, 401, 401]);
    node.api.clock.advanceSecs(901);
    expect(await failTimes(5)).toEqual([401, 401, 401, 401, 401]);
  });

  test('rejects logins of a delayed caller, and accepts logins again once the lockout is deleted', async () => {
    await failTimes(5);
    expect(await failTimes(2)).toEqual([429, 429]);
    await node.suite.database.query('DELETE FROM login_failures');
    expect((await node.logIn(PASSWORD)).status).toBe(200);
  });

  test('is active on all nodes with the same database', async () => {
    await failTimes(5);
    const other = await RunningApi.start(node.suite.database, everyRoute(), { toml: '' });
    const answer = await other.send('POST', '/api/auth/login', {
      json: { username: 'admin', password: PASSWORD },
    });
    await other.close();
    expect(answer.status).toBe(429);
  });

  test('ignores X-Forwarded-For by default', async () => {
    for (let n = 0; n < 5; n++) await failTimes(1, { 'x-forwarded-for': `192.0.2.${n}` });
    expect((await node.logIn(PASSWORD)).status).toBe(429);
  });

  test('applies to one pair of address and name if a trusted proxy reports client addresses', async () => {
    await node.restart('server.trusted_proxies = ["127.0.0.1/32"]');
    await failTimes(5, { 'x-forwarded-for': '192.0.2.1' });
    expect((await node.logIn(PASSWORD, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status).toBe(429);
    expect(
      (await node.logIn('x', { username: 'root', headers: { 'x-forwarded-for': '192.0.2.1' } })).status,
    ).toBe(401);
    expect((await node.logIn(PASSWORD, { headers: { 'x-forwarded-for': '192.0.2.2' } })).status).toBe(200);
  });

  test('accepts a correct password while thirty addresses guess passwords of the account', async () => {
    await node.restart('server.trusted_proxies = ["127.0.0.1/32"]');
    const flood = Array.from({ length: 30 }, (_, n) => failTimes(5, { 'x-forwarded-for': `192.0.2.${n}` }));
    const owner = { headers: { 'x-forwarded-for': '198.51.100.1' } };
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await node.logIn(PASSWORD, owner)).status);
    const failed = (await Promise.all(flood)).flat();
    expect(new Set(failed)).toEqual(new Set([401]));
    statuses.push((await node.logIn(PASSWORD, owner)).status);
    expect(statuses).toEqual([200, 200, 200, 200]);
  });

  test('counts a whole IPv6 /64 as one address, and attributes an invalid forwarded address to the proxy', async () => {
    await node.restart('server.trusted_proxies = ["127.0.0.1/32"]');
    for (let n = 1; n <= 5; n++) await failTimes(1, { 'x-forwarded-for': `2001:db8:1:2::${n}` });
    const sameNet = { 'x-forwarded-for': '2001:db8:1:2:ffff::9' };
    expect((await node.logIn(PASSWORD, { headers: sameNet })).status).toBe(429);
    expect((await node.logIn(PASSWORD, { headers: { 'x-forwarded-for': '2001:db8:1:3::1' } })).status).toBe(
      200,
    );
    const odd = await node.logIn(PASSWORD, { headers: { 'x-forwarded-for': "'; DROP TABLE sessions" } });
    expect(odd.status).toBe(200);
    const sessions = await node.sessionsOf(sessionCookie(odd)!.secret);
    expect(sessions.map(({ ip_address }) => ip_address).sort()).toEqual(['127.0.0.1', '2001:db8:1:3::1']);
  });
});
