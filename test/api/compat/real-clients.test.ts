/** The requests of real clients of Pi-hole's API, in their order and with their header fields. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { CompatSuite, errorIn, sessionIn } from '../../support/parts/compat-suite.ts';
import { loggedDay } from '../../support/parts/logged-day.ts';
import { PASSWORD } from '../../support/parts/running-api.ts';
import { storeRows } from '../../support/parts/stored-log.ts';

const compat = new CompatSuite();
beforeEach(async () => {
  await compat.api.setUp();
  await storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs()));
});

const JSON_TYPE = { 'content-type': 'application/json' };
const login = JSON.stringify({ password: PASSWORD });

/** Requests each path with these header fields; all must exist. */
async function getAll(paths: readonly string[], headers: Record<string, string>, query = ''): Promise<void> {
  for (const path of paths) {
    const { status } = await compat.send('GET', `/api/${path}${query}`, { headers });
    expect([path, status]).toEqual([path, 200]);
  }
}

async function sidFrom(headers: Record<string, string>, raw = login): Promise<string> {
  return sessionIn(await compat.send('POST', '/api/auth', { raw, headers })).sid!;
}

describe('the compatibility API with the requests of a real client', () => {
  test('PADD: checks whether a password is needed, logs in with a form, reads and logs out', async () => {
    const asked = await compat.send('GET', '/api/auth');
    expect([asked.status, sessionIn(asked).totp]).toEqual([401, false]);
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'PADD v4.1.0' };
    const sid = await sidFrom(form, `{"password":"${PASSWORD}", "totp":null}`);
    const headers = { accept: 'application/json', sid };
    await getAll(['padd?full=true', 'padd?full=false'], headers);
    expect((await compat.send('DELETE', '/api/auth', { headers })).status).toBe(204);
    expect((await compat.send('GET', '/api/padd', { headers })).status).toBe(401);
  });

  test('Home Assistant (python-hole): detects version 6 after a wrong password, and polls', async () => {
    for (let reload = 0; reload < 8; reload++) {
      const wrong = await compat.logInAnswer('wrong_password', JSON_TYPE);
      expect([wrong.status, sessionIn(wrong).message]).toEqual([401, 'password incorrect']);
      const { sid, csrf } = sessionIn(
        await compat.send('POST', '/api/auth', { raw: login, headers: JSON_TYPE }),
      );
      const headers = { 'X-FTL-SID': sid!, 'X-FTL-CSRF': csrf! };
      await getAll(['stats/summary', 'dns/blocking', 'info/version'], headers);
    }
    const old = await compat.api.send('GET', '/admin/api.php?summaryRaw');
    expect([old.status, errorIn(old).key, errorIn(old).message]).toEqual([400, 'bad_request', 'Bad request']);
    expect(errorIn(old).hint).toBe('The API is hosted at pi.hole/api, not pi.hole/admin/api');
  });

  test('Homepage: sends a JSON type without a body, and keeps its cookies and its session while it is valid', async () => {
    const { sid, validity } = sessionIn(
      await compat.send('POST', '/api/auth', { raw: login, headers: JSON_TYPE }),
    );
    for (let waited = 0; waited < validity; waited += 600) {
      await getAll(['stats/summary'], { ...JSON_TYPE, 'X-FTL-SID': sid!, cookie: `sid=${sid!}` });
      compat.api.clock.advanceSecs(600);
    }
    await getAll(['stats/summary'], { ...JSON_TYPE, 'X-FTL-SID': sid!, cookie: 'sid=deleted' });
  });

  test('Homarr: recognizes version 6 by the 401 of info/version, and logs in with a text body', async () => {
    const probe = await compat.send('GET', '/api/info/version');
    expect([probe.status, errorIn(probe).key]).toEqual([401, 'unauthorized']);
    const sid = await sidFrom({ 'content-type': 'text/plain;charset=UTF-8' });
    await getAll(['info/version', 'stats/summary', 'dns/blocking'], { sid });
    expect((await compat.send('POST', '/api/dns/blocking', { headers: { sid }, raw: '{}' })).status).toBe(
      404,
    );
    expect((await compat.send('DELETE', '/api/auth', { headers: { sid } })).status).toBe(204);
  });

  test('Dashy: opens a session for each refresh and ends none', async () => {
    const nowSecs = Math.floor(compat.api.clock.nowMs() / 1000);
    for (let refresh = 0; refresh < 5; refresh++) {
      const headers = { 'X-FTL-SID': await sidFrom(JSON_TYPE) };
      await getAll(['stats/summary', 'history', 'stats/top_domains?blocked=true&count=5'], headers);
      await getAll([`stats/database/summary?from=${nowSecs - 86_400}&until=${nowSecs}`], headers);
    }
  });

  test('the Prometheus exporter: keeps one session, in a header field or in the query string', async () => {
    const sid = await sidFrom(JSON_TYPE);
    const paths = [
      'stats/summary',
      'stats/query_types',
      'stats/upstreams',
      'stats/top_domains',
      'stats/top_clients',
    ];
    await getAll([...paths, 'dns/blocking', 'history', 'history/clients'], { 'X-FTL-SID': sid });
    await getAll(paths, {}, `?sid=${sid}`);
  });

  test("bastgau's integration for Home Assistant: handles 404 for everything except read-only statistics", async () => {
    const { sid, csrf } = sessionIn(
      await compat.send('POST', '/api/auth', { raw: login, headers: JSON_TYPE }),
    );
    const headers = { ...JSON_TYPE, sid: sid!, 'X-CSRF-TOKEN': csrf! };
    await getAll(
      ['stats/summary', 'dns/blocking', 'padd', 'info/version', 'stats/top_domains', 'queries'],
      headers,
    );
    for (const path of ['auth/sessions', 'groups', 'clients', 'dhcp/leases', 'info/messages/count'])
      expect(errorIn(await compat.send('GET', `/api/${path}`, { headers })).hint).toBe(`/api/${path}`);
    expect((await compat.send('DELETE', '/api/auth', { headers })).status).toBe(204);
  });

  test('ioBroker: sends blocked=0 and a JSON type with all its requests', async () => {
    const headers = { ...JSON_TYPE, sid: await sidFrom(JSON_TYPE) };
    await getAll(
      ['stats/summary', 'stats/top_domains?blocked=0&count=10', 'stats/top_clients?blocked=0'],
      headers,
    );
    await getAll(
      ['info/system', 'info/version', 'info/ftl', 'dns/blocking', 'history', 'stats/upstreams'],
      headers,
    );
    expect((await compat.send('DELETE', '/api/auth', { headers })).status).toBe(204);
  });
});
