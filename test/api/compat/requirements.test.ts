/**
 * Behaviour of clients of the compatibility API that a server must handle: a test for each requirement, by its number.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { IDLE_SECS } from '../../../control-plane/web/auth/authenticator.ts';
import { MAX_IDLE_SESSIONS } from '../../../control-plane/web/auth/sessions/sessions.ts';
import { CompatSuite, errorIn, sessionIn } from '../../support/parts/compat-suite.ts';
import { PASSWORD } from '../../support/parts/running-api.ts';

const compat = new CompatSuite();
beforeEach(() => compat.api.setUp());

const UNAUTHORIZED = { key: 'unauthorized', message: 'Unauthorized', hint: null };
const SUMMARY = '/api/stats/summary';
const login = JSON.stringify({ password: PASSWORD, totp: null, another: 1 });

describe('the requirements of Pi-hole clients', () => {
  test('requirement 1: POST /api/auth parses JSON with any Content-Type and ignores extra members', async () => {
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain;charset=UTF-8',
      'application/json',
      'x',
    ]) {
      const answer = await compat.send('POST', '/api/auth', {
        raw: login,
        headers: { 'content-type': type },
      });
      expect([answer.status, sessionIn(answer).valid]).toEqual([200, true]);
    }
    expect((await compat.send('POST', '/api/auth', { raw: login })).status).toBe(200);
  });

  test('requirement 2: GET and DELETE accept a JSON type without a body, and GET accepts a body', async () => {
    const sid = await compat.logIn();
    const headers = { sid, 'content-type': 'application/json' };
    expect((await compat.send('GET', SUMMARY, { headers })).status).toBe(200);
    expect((await compat.send('GET', SUMMARY, { headers, raw: '{"any":[1]}' })).status).toBe(200);
    expect((await compat.send('GET', SUMMARY, { raw: JSON.stringify({ sid }) })).status).toBe(200);
    expect((await compat.send('GET', SUMMARY, { raw: `sid=${sid}` })).status).toBe(200);
    expect((await compat.send('DELETE', '/api/auth', { headers })).status).toBe(204);
  });

  test('requirement 3: a session ID in a header overrides a cookie, which overrides the query string', async () => {
    const [first, second] = [await compat.logIn(), await compat.logIn()];
    const sidOf = async (headers: Record<string, string>, query = ''): Promise<string | null> =>
      sessionIn(await compat.send('GET', `/api/auth${query}`, { headers })).sid;
    expect(await sidOf({ sid: first, cookie: `sid=${second}` })).toBe(first);
    expect(await sidOf({ 'X-FTL-SID': first, cookie: `sid=${second}` })).toBe(first);
    expect(await sidOf({ cookie: `sid=${first}` }, `?sid=${second}`)).toBe(first);
    expect(await sidOf({}, `?sid=${second}`)).toBe(second);
    for (const stale of ['deleted', 'A'.repeat(43), '""', 'j:{"a":1}'])
      for (const fresh of [{ sid: first }, { 'X-FTL-SID': first }]) {
        const headers = { ...fresh, cookie: `sid=${stale}` };
        expect((await compat.send('GET', SUMMARY, { headers })).status).toBe(200);
        expect((await compat.logInAnswer(PASSWORD, { cookie: `sid=${stale}` })).status).toBe(200);
      }
  });

  test('requirement 4: without a session /api/auth returns a session object, other paths return an error object', async () => {
    const none = await compat.send('GET', '/api/auth');
    expect([none.status, Object.keys(none.body as object)]).toEqual([401, ['session', 'took']]);
    expect(sessionIn(none)).toEqual({
      valid: false,
      totp: false,
      sid: null,
      validity: -1,
      message: 'no SID provided',
    });
    const unknown = await compat.send('GET', '/api/auth', { headers: { sid: 'x' } });
    expect([unknown.status, sessionIn(unknown).message]).toEqual([401, 'session unknown']);
    const wrong = await compat.logInAnswer('wrong password');
    expect([wrong.status, sessionIn(wrong).message]).toEqual([401, 'password incorrect']);
    expect(wrong.headers['set-cookie']).toEqual([expect.stringMatching(/^sid=deleted; .*Max-Age=-1/)]);
    const other = await compat.send('GET', SUMMARY);
    expect([other.status, errorIn(other)]).toEqual([401, UNAUTHORIZED]);
  });

  test('requirement 5: /api/info/version requires a session and is not 404', async () => {
    const answer = await compat.send('GET', '/api/info/version');
    expect([answer.status, errorIn(answer)]).toEqual([401, UNAUTHORIZED]);
  });

  test('requirement 6: DELETE ends the session with 204 and an empty body', async () => {
    const sid = await compat.logIn();
    const answer = await compat.send('DELETE', '/api/auth', { headers: { sid } });
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([204, '', undefined]);
    expect(answer.headers['set-cookie']).toEqual([expect.stringMatching(/^sid=deleted;/)]);
    expect((await compat.get(SUMMARY, sid)).status).toBe(401);
    const again = await compat.send('DELETE', '/api/auth', { headers: { sid } });
    expect([again.status, sessionIn(again).message]).toEqual([401, 'session unknown']);
  });

  test('requirement 7: each body has the member took, integers are numbers, and no member is missing', async () => {
    const sid = await compat.logIn();
    const { queries } = (await compat.get(SUMMARY, sid)).body as {
      queries: Record<string, Record<string, number>>;
    };
    const names = ['types', 'status', 'replies'].map((kind) => Object.keys(queries[kind]!).length);
    expect(names).toEqual([16, 19, 14]);
    expect(Object.keys(queries['types']!).at(-1)).toBe('OTHER');
    for (const path of [SUMMARY, '/api/auth', '/api/nothing'])
      expect((await compat.get(path, sid)).body).toHaveProperty('took', expect.any(Number));
  });

  test('requirement 8: a valid session has a CSRF token, a message and a validity', async () => {
    const opened = sessionIn(await compat.logInAnswer(PASSWORD));
    expect(opened).toEqual({
      valid: true,
      totp: false,
      sid: expect.any(String),
      csrf: expect.stringMatching(/^[\w-]{22}$/),
      validity: IDLE_SECS,
      message: 'password correct',
    });
    const read = sessionIn(await compat.get('/api/auth', opened.sid!));
    expect(read).toEqual({ ...opened, message: 'correct password' });
  });

  test('requirement 9: the validity of a session is correct after a restart, and each use extends it', async () => {
    const opened = sessionIn(await compat.logInAnswer(PASSWORD));
    compat.api.clock.advanceSecs(opened.validity - 1);
    const { clock } = compat.api;
    await compat.restart('');
    compat.api.clock.advanceSecs(clock.monotonicMs() / 1000 - compat.api.clock.monotonicMs() / 1000);
    const used = await compat.get(SUMMARY, opened.sid!);
    expect(used.status).toBe(200);
    expect(used.headers['set-cookie']).toEqual([
      `sid=${opened.sid!}; SameSite=Lax; Path=/; Max-Age=${IDLE_SECS}; HttpOnly`,
    ]);
    expect(sessionIn(await compat.get('/api/auth', opened.sid!)).validity).toBe(IDLE_SECS);
    compat.api.clock.advanceSecs(100);
    compat.api.clock.stepSecs(-7200);
    expect(sessionIn(await compat.get('/api/auth', opened.sid!)).validity).toBe(IDLE_SECS);
    compat.api.clock.advanceSecs(IDLE_SECS);
    const over = await compat.get(SUMMARY, opened.sid!);
    expect([over.status, errorIn(over)]).toEqual([401, UNAUTHORIZED]);
  });

  test('requirement 10: a session ID needs no encoding in a URL', async () => {
    const sid = await compat.logIn();
    expect(sid).toMatch(/^[\w-]{43}$/);
    expect((await compat.send('GET', `${SUMMARY}?sid=${sid}`)).status).toBe(200);
  });

  test('requirement 11: sessions that never end are limited; native sessions and sessions in use are kept', async () => {
    const native = await compat.api.logIn();
    const inUse = await compat.logIn();
    compat.api.clock.advanceSecs(60);
    await compat.suite.database.query(
      `INSERT INTO sessions (secret_hash, user_id, created_at, last_seen_at, expires_at, idle_secs)
       SELECT sha256(n::text::bytea), 1, $1, $1, $1::timestamptz + interval '30 minutes', 1800
       FROM generate_series(1, $2) AS n`,
      [new Date(compat.api.clock.nowMs()), MAX_IDLE_SESSIONS],
    );
    compat.api.clock.advanceSecs(60);
    await compat.get(SUMMARY, inUse);
    const newest = await compat.logIn();
    const { rows } = await compat.suite.database.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM sessions WHERE idle_secs IS NOT NULL',
    );
    expect(rows).toEqual([{ count: MAX_IDLE_SESSIONS }]);
    for (const sid of [native, inUse, newest]) expect((await compat.get(SUMMARY, sid)).status).toBe(200);
  });

  test('requirement 12: wrong passwords lock only the address that sent them', async () => {
    const tries = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++)
        expect((await compat.logInAnswer('a deliberately wrong one')).status).toBe(401);
    };
    await tries(4);
    expect((await compat.logInAnswer(PASSWORD)).status).toBe(200);
    await tries(5);
    const locked = await compat.logInAnswer(PASSWORD);
    expect([locked.status, errorIn(locked).key]).toEqual([429, 'rate_limiting']);
    expect(errorIn(locked).message).toBe('Rate-limiting login attempts');
    expect(locked.headers['retry-after']).toBe('900');
    const elsewhere = await compat.suite.database.query('UPDATE login_failures SET address = $1', [
      '192.0.2.9',
    ]);
    expect(elsewhere.rowCount).toBe(1);
    expect((await compat.logInAnswer(PASSWORD)).status).toBe(200);
  });

  test('requirement 13: 404 has the path as its hint and no other data, even for a wrong method', async () => {
    for (const [method, path] of [
      ['GET', '/api/nothing'],
      ['GET', '/api/auth/sessions'],
      ['GET', '/api/groups?a=b'],
      ['POST', SUMMARY],
      ['PUT', '/api/auth'],
      ['PATCH', '/api/auth'],
      ['POST', '/api/dns/blocking'],
      ['DELETE', '/api/queries'],
      ['GET', '/api'],
    ] as const) {
      const answer = await compat.send(method, path);
      const hint = path.replace(/\?.*/, '');
      expect([method, path, answer.status]).toEqual([method, path, 404]);
      expect(errorIn(answer)).toEqual({ key: 'not_found', message: 'Not found', hint });
    }
  });

  test('requirement 14: with authentication disabled all paths are open, and a password still opens a session', async () => {
    await compat.restart('auth.enabled = false');
    const open = await compat.send('GET', '/api/auth');
    expect([open.status, sessionIn(open)]).toEqual([
      200,
      { valid: true, totp: false, sid: null, validity: -1, message: 'no password set' },
    ]);
    const given = await compat.logInAnswer('any password');
    const { sid, validity, csrf } = sessionIn(given);
    expect([given.status, validity, csrf]).toEqual([200, IDLE_SECS, expect.any(String)]);
    expect((await compat.get(SUMMARY, sid!)).status).toBe(200);
    expect((await compat.send('GET', SUMMARY)).status).toBe(200);
    expect((await compat.send('DELETE', '/api/auth', { headers: { sid: sid! } })).status).toBe(204);
    expect(sessionIn(await compat.logInAnswer('')).sid).toBeNull();
    await compat.restart('');
    expect((await compat.get(SUMMARY, sid!)).status).toBe(401);
  });

  test('requirement 15: an invalid parameter is ignored', async () => {
    const sid = await compat.logIn();
    for (const query of [
      'blocked=0',
      'blocked=1&count=x',
      'count=-3',
      'count=1e9&count=',
      '%zz=%ff&&=&blocked',
    ])
      expect((await compat.get(`/api/stats/top_domains?${query}`, sid)).status).toBe(200);
  });
});
