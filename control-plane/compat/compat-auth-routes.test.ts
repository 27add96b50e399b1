/** One session for both APIs. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { SessionList } from '../../shared/api/auth-api.ts';
import { CompatSuite, errorIn, sessionIn } from '../../test/support/parts/compat-suite.ts';
import { PASSWORD } from '../../test/support/parts/running-api.ts';

const compat = new CompatSuite();
beforeEach(async () => {
  if (!expect.getState().currentTestName!.includes('before setup')) await compat.api.setUp();
});

const SUMMARY = '/api/stats/summary';

describe('a session', () => {
  test('of the compatibility API opens the native one, in each place that carries it', async () => {
    const sid = await compat.logIn();
    const cookies = [`svc_session=${sid}`, `sid=${sid}`, `sid=deleted; svc_session=${sid}`];
    const places = [{ sid }, { 'X-FTL-SID': sid }, ...cookies.map((cookie) => ({ cookie }))];
    for (const headers of places) {
      const answer = await compat.api.send('GET', '/svc/api/groups', { headers });
      expect([headers, answer.status]).toEqual([headers, 200]);
    }
    expect((await compat.api.send('GET', '/svc/api/groups')).status).toBe(401);
  });

  test('of the native API opens the compatibility API, which does not tell scripts the secret of its cookie', async () => {
    const native = await compat.api.logIn();
    const headers = { cookie: `svc_session=${native}` };
    expect((await compat.send('GET', SUMMARY, { headers })).status).toBe(200);
    const { sid, valid, validity } = sessionIn(await compat.send('GET', '/api/auth', { headers }));
    expect([sid, valid, validity]).toEqual([null, true, 24 * 3600]);
    const told = await compat.get('/api/auth', native);
    expect(sessionIn(told).sid).toBe(native);
    expect(told.headers['set-cookie']).toBeUndefined();
  });

  test('that ends at one API has ended at the other', async () => {
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

  test('lives on with each use of the native API, too', async () => {
    const sid = await compat.logIn();
    for (let i = 0; i < 3; i++) {
      compat.api.clock.advanceSecs(1700);
      expect((await compat.api.send('GET', '/svc/api/groups', { headers: { sid } })).status).toBe(200);
    }
  });

  test('that is valid is the answer to a wrong password and to none', async () => {
    const sid = await compat.logIn();
    for (const password of ['wrong password', '']) {
      const answer = await compat.logInAnswer(password, { sid });
      expect([answer.status, sessionIn(answer).sid]).toEqual([200, sid]);
    }
    const again = sessionIn(await compat.logInAnswer(PASSWORD, { sid }));
    expect(again.sid).not.toBe(sid);
  });

  test('of a changed password is over', async () => {
    const [sid, native] = [await compat.logIn(), await compat.api.logIn()];
    const json = { current_password: PASSWORD, new_password: 'another password' };
    await compat.api.send('POST', '/svc/api/auth/change-password', { json, session: native });
    expect((await compat.get(SUMMARY, sid)).status).toBe(401);
    expect((await compat.logInAnswer('another password')).status).toBe(200);
  });

  test('cannot be opened before setup, and the answer says what to do', async () => {
    for (const answer of [await compat.send('GET', '/api/auth'), await compat.logInAnswer('any password')]) {
      expect([answer.status, sessionIn(answer).valid]).toEqual([401, false]);
      expect(sessionIn(answer).message).toContain('set a password first');
    }
    const other = await compat.send('GET', SUMMARY);
    expect([other.status, errorIn(other).key]).toEqual([401, 'unauthorized']);
    expect(errorIn(other).hint).toContain('set a password first');
  });

  test('is not opened by an empty password, which is no guess that counts', async () => {
    for (let i = 0; i < 6; i++) expect((await compat.logInAnswer('')).status).toBe(401);
    expect((await compat.logInAnswer(PASSWORD)).status).toBe(200);
  });
});
