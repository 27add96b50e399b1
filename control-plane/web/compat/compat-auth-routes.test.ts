/** Sessions that are valid in both APIs. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { SecondFactorSecret, SessionList } from '../../../shared/api/auth-api.ts';
import { AuthenticatorApp } from '../../../test/support/parts/authenticator-app.ts';
import { CompatSuite, errorIn, sessionIn } from '../../../test/support/parts/compat-suite.ts';
import { makeToken } from '../../../test/support/parts/people.ts';
import { PASSWORD, type TestAnswer } from '../../../test/support/parts/running-api.ts';

const compat = new CompatSuite();
beforeEach(async () => {
  if (!expect.getState().currentTestName!.includes('before setup')) await compat.api.setUp();
});

const SUMMARY = '/api/stats/summary';

describe('a session with the compatibility API', () => {
  test('of the compatibility API is valid for the native API, in every header that can contain it', async () => {
    const sid = await compat.logIn();
    const cookies = [`svc_session=${sid}`, `sid=${sid}`, `sid=deleted; svc_session=${sid}`];
    const places = [{ sid }, { 'X-FTL-SID': sid }, ...cookies.map((cookie) => ({ cookie }))];
    for (const headers of places) {
      const answer = await compat.api.send('GET', '/svc/api/groups', { headers });
      expect([headers, answer.status]).toEqual([headers, 200]);
    }
    expect((await compat.api.send('GET', '/svc/api/groups')).status).toBe(401);
  });

  test('of the native API is valid for the compatibility API, whose cookie is hidden from scripts', async () => {
    const native = await compat.api.logIn();
    const headers = { cookie: `svc_session=${native}` };
    expect((await compat.send('GET', SUMMARY, { headers })).status).toBe(200);
    const { sid, valid, validity } = sessionIn(await compat.send('GET', '/api/auth', { headers }));
    expect([sid, valid, validity]).toEqual([null, true, 24 * 3600]);
    const reported = await compat.get('/api/auth', native);
    expect(sessionIn(reported).sid).toBe(native);
    expect(reported.headers['set-cookie']).toBeUndefined();
  });

  test('that ends in one API has ended in the other', async () => {
    const [first, second] = [await compat.logIn(), await compat.api.logIn()];
    const logout = await compat.api.send('POST', '/svc/api/auth/logout', { headers: { sid: first } });
    expect(logout.status).toBe(204);
    expect((await compat.get(SUMMARY, first)).status).toBe(401);
    await compat.send('DELETE', '/api/auth', { headers: { cookie: `svc_session=${second}` } });
    expect((await compat.api.send('GET', '/svc/api/groups', { session: second })).status).toBe(401);
  });

  test('of the compatibility API is listed and can be revoked', async () => {
    const [sid, native] = [await compat.logIn(), await compat.api.logIn()];
    const listed = await compat.api.send('GET', '/svc/api/auth/sessions', { session: native });
    const other = SessionList.parse(listed.body).find(({ current }) => !current)!;
    expect(Date.parse(other.expires_at) - Date.parse(other.created_at)).toBe(1_800_000);
    await compat.api.send('DELETE', `/svc/api/auth/sessions/${String(other.id)}`, { session: native });
    expect((await compat.get(SUMMARY, sid)).status).toBe(401);
  });

  test('of the compatibility API is extended by each use of the native API', async () => {
    const sid = await compat.logIn();
    for (let i = 0; i < 3; i++) {
      compat.api.clock.advanceSecs(1700);
      expect((await compat.api.send('GET', '/svc/api/groups', { headers: { sid } })).status).toBe(200);
    }
  });

  test('that is valid is returned for a wrong or missing password', async () => {
    const sid = await compat.logIn();
    for (const password of ['wrong password', '']) {
      const answer = await compat.logInAnswer(password, { sid });
      expect([answer.status, sessionIn(answer).sid]).toEqual([200, sid]);
    }
    const again = sessionIn(await compat.logInAnswer(PASSWORD, { sid }));
    expect(again.sid).not.toBe(sid);
  });

  test('ends when the password is changed', async () => {
    const [sid, native] = [await compat.logIn(), await compat.api.logIn()];
    const json = { current_password: PASSWORD, new_password: 'another password' };
    await compat.api.send('POST', '/svc/api/auth/change-password', { json, session: native });
    expect((await compat.get(SUMMARY, sid)).status).toBe(401);
    expect((await compat.logInAnswer('another password')).status).toBe(200);
  });

  test('cannot be opened before setup, and the error explains what to do', async () => {
    for (const answer of [await compat.send('GET', '/api/auth'), await compat.logInAnswer('any password')]) {
      expect([answer.status, sessionIn(answer).valid]).toEqual([401, false]);
      expect(sessionIn(answer).message).toContain('set a password first');
    }
    const other = await compat.send('GET', SUMMARY);
    expect([other.status, errorIn(other).key]).toEqual([401, 'unauthorized']);
    expect(errorIn(other).hint).toContain('set a password first');
  });

  test('is not opened by an empty password, which does not count as a failed login', async () => {
    for (let i = 0; i < 6; i++) expect((await compat.logInAnswer('')).status).toBe(401);
    expect((await compat.logInAnswer(PASSWORD)).status).toBe(200);
  });
});

describe("the administrator's second factor in the compatibility API", () => {
  const send = (more: object, headers = {}): Promise<TestAnswer> =>
    compat.send('POST', '/api/auth', { raw: JSON.stringify({ password: PASSWORD, ...more }), headers });

  async function enable(): Promise<AuthenticatorApp> {
    const session = await compat.api.logIn();
    const place = '/svc/api/auth/second-factor';
    const made = await compat.api.send('POST', place, { session, json: { password: PASSWORD } });
    const { secret } = SecondFactorSecret.parse(made.body);
    const app = new AuthenticatorApp(secret, compat.api.clock);
    await compat.api.send('POST', `${place}/confirm`, { session, json: { totp_code: app.code() } });
    do compat.api.clock.advanceSecs(30);
    while (!app.hasDistinctCodes);
    return app;
  }

  test('is required, accepted once as a number or a string, and reported in each session', async () => {
    expect(sessionIn(await compat.send('GET', '/api/auth')).totp).toBe(false);
    const app = await enable();
    expect(sessionIn(await compat.send('GET', '/api/auth'))).toMatchObject({ valid: false, totp: true });
    for (const more of [{}, { totp: null }, { totp: {} }]) {
      const answer = await send(more);
      expect([answer.status, errorIn(answer)]).toEqual([
        400,
        { key: 'bad_request', message: 'No 2FA token found in JSON payload', hint: null },
      ]);
    }
    const wrong = await send({ totp: Number(app.code(5)) });
    expect([wrong.status, errorIn(wrong)]).toEqual([
      401,
      { key: 'unauthorized', message: 'Invalid 2FA token', hint: null },
    ]);
    const right = await send({ totp: Number(app.code()) });
    expect([right.status, sessionIn(right)]).toMatchObject([200, { valid: true, totp: true }]);
    expect((await compat.get(SUMMARY, sessionIn(right).sid!)).status).toBe(200);
    const again = await send({ totp: app.code() });
    expect([again.status, errorIn(again)]).toEqual([
      401,
      { key: 'unauthorized', message: 'Reused 2FA token', hint: 'wait for new token' },
    ]);
    expect((await send({ totp: app.code(1) })).status).toBe(200);
  });

  test('is not mentioned for a wrong password, and not required for the key of a token', async () => {
    const app = await enable();
    const wrong = await send({ password: 'wrong password', totp: Number(app.code()) });
    expect([wrong.status, sessionIn(wrong).message]).toEqual([401, 'password incorrect']);
    const sid = sessionIn(await send({ totp: Number(app.code()) })).sid!;
    const { key } = await makeToken(compat.api, sid, { name: 'dashboard' });
    expect((await send({ password: key })).status).toBe(200);
  });
});
