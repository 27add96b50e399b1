/** Lifetime, visibility and end of sessions. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AuthStatus, LoginAnswer, SessionList } from '../../../shared/api/auth-api.ts';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { RunningApi, sessionCookie } from '../../../test/support/parts/running-api.ts';
import { AuthSuite } from '../../../test/support/parts/auth-suite.ts';

const node = new AuthSuite();

describe('web sessions', () => {
  beforeEach(() => node.api.setUp());

  test('are listed newest first, with the current session marked and without secrets', async () => {
    const older = await node.api.logIn({ headers: { 'user-agent': 'Test/1.0 \u00e9' }, remember_me: true });
    node.api.clock.advanceSecs(1);
    const newer = await node.api.logIn();
    const answer = await node.api.send('GET', '/api/auth/sessions', { session: older });
    expect(answer.text).not.toContain(older);
    expect(answer.text).not.toContain(newer);
    const sessions = SessionList.parse(answer.body);
    expect(sessions.map(({ current, remember_me }) => [current, remember_me])).toEqual([
      [false, false],
      [true, true],
    ]);
    expect(sessions[1]).toMatchObject({ username: 'admin', role: 'admin', ip_address: '127.0.0.1' });
    expect(sessions[1]!.user_agent).toMatch(/^Test\/1\.0 /);
  });

  test('are shown to their owners by auth/status, which returns 200 even without a session', async () => {
    const reported = async (session?: string): Promise<unknown> => {
      const answer = await node.api.send('GET', '/api/auth/status', session === undefined ? {} : { session });
      expect(answer.status).toBe(200);
      return AuthStatus.parse(answer.body).session;
    };
    const admin = await node.api.logIn();
    const own = { username: 'admin', role: 'admin' };
    expect(await reported(admin)).toEqual({
      ...own,
      expires_at: (await node.sessionsOf(admin))[0]!.expires_at,
    });
    const json = { username: 'ada', password: 'a viewer of it all', role: 'viewer' };
    await node.api.send('POST', '/api/users', { session: admin, json });
    const answer = await node.logIn(json.password, { username: 'ada' });
    const viewer = sessionCookie(answer)!.secret;
    expect(await reported(viewer)).toEqual(LoginAnswer.parse(answer.body));
    for (const secret of [undefined, 'A'.repeat(43), 'x', '%00']) expect(await reported(secret)).toBeNull();
    await node.api.send('POST', '/api/auth/logout', { session: viewer });
    expect(await reported(viewer)).toBeNull();
    node.api.clock.advanceSecs(24 * 3600);
    expect(await reported(admin)).toBeNull();
    const late = await node.api.logIn();
    await node.restart('auth.enabled = false');
    expect(await reported(late)).toBeNull();
  });

  test('of other users cannot be listed or ended by a viewer; tokens are not listed', async () => {
    const admin = await node.api.logIn();
    const json = { username: 'ada', password: 'a viewer of it all', role: 'viewer' };
    await node.api.send('POST', '/api/users', { session: admin, json });
    const [viewer, other] = await Promise.all(
      [1, 2].map(async () => sessionCookie(await node.logIn(json.password, { username: 'ada' }))!.secret),
    );
    expect((await node.sessionsOf(admin)).map(({ username }) => username).sort()).toEqual([
      'ada',
      'ada',
      'admin',
    ]);
    const own = await node.sessionsOf(viewer!);
    expect(own.map(({ username }) => username)).toEqual(['ada', 'ada']);
    const [ofAdmin] = (await node.sessionsOf(admin)).filter(({ username }) => username === 'admin');
    const end = (id: number) => node.api.send('DELETE', `/api/auth/sessions/${id}`, { session: viewer! });
    expect((await end(ofAdmin!.id)).status).toBe(404);
    expect((await end(own.find(({ current }) => !current)!.id)).status).toBe(204);
    expect([await node.isIn(admin), await node.isIn(viewer!), await node.isIn(other!)]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await node.api.send('GET', '/api/api-tokens', { session: viewer! })).status).toBe(403);
  });

  test('are stored as hashes', async () => {
    const session = await node.api.logIn();
    const { rows } = await node.suite.database.query<{ row: string }>(
      'SELECT sessions::text AS row FROM sessions',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.row).not.toContain(session);
    expect(rows[0]!.row).not.toContain(Buffer.from(session).toString('hex'));
  });

  test('end when they expire and are then deleted from the table', async () => {
    const session = await node.api.logIn();
    node.api.clock.advanceSecs(24 * 3600 - 1);
    expect(await node.isIn(session)).toBe(true);
    node.api.clock.advanceSecs(1);
    expect(await node.isIn(session)).toBe(false);
    await node.api.parts.auth.removeExpired();
    const { rows } = await node.suite.database.query('SELECT id FROM sessions');
    expect(rows).toEqual([]);
  });

  test('do not change their duration when the clock is set', async () => {
    const session = await node.api.logIn();
    const year = 365 * 86_400;
    for (const step of [year, -2 * year, year]) {
      node.api.clock.stepSecs(step);
      expect([step, await node.isIn(session)]).toEqual([step, true]);
      // No session is deleted because of a clock that was just set.
      await node.api.parts.auth.removeExpired();
    }
    node.api.clock.stepSecs(-year);
    const opened = await node.api.logIn();
    node.api.clock.stepSecs(year);
    expect(await node.isIn(opened)).toBe(true);
    node.api.clock.advanceSecs(24 * 3600 - 1);
    expect([await node.isIn(session), await node.isIn(opened)]).toEqual([true, true]);
    node.api.clock.stepSecs(-year);
    node.api.clock.advanceSecs(1);
    expect([await node.isIn(session), await node.isIn(opened)]).toEqual([false, false]);
    node.api.clock.stepSecs(year);
  });

  test('opened while the clock was ahead last no longer than other sessions, and do not end earlier sessions', async () => {
    const year = 365 * 86_400;
    const before = await node.api.logIn();
    node.api.clock.stepSecs(year);
    const session = await node.api.logIn();
    await node.api.parts.auth.removeExpired();
    node.api.clock.stepSecs(-year);
    // Another node, or this one after a start, has never seen these sessions.
    const restarted = await RunningApi.start(node.suite.database, everyRoute(), {
      toml: '',
      clock: node.api.clock,
    });
    const isInThere = async (secret: string): Promise<boolean> =>
      (await restarted.send('GET', '/api/groups', { session: secret })).status === 200;
    expect([await isInThere(before), await isInThere(session)]).toEqual([true, true]);
    node.api.clock.advanceSecs(24 * 3600);
    expect([await isInThere(before), await isInThere(session)]).toEqual([false, false]);
    await restarted.close();
  });

  test('record when they were last used', async () => {
    const session = await node.api.logIn();
    const [before] = await node.sessionsOf(session);
    node.api.clock.advanceSecs(120);
    await node.isIn(session);
    const [after] = await node.sessionsOf(session);
    expect(Date.parse(after!.last_seen) - Date.parse(before!.last_seen)).toBe(120_000);
  });

  test('can be revoked one by one, including the current session', async () => {
    const own = await node.api.logIn();
    const other = await node.api.logIn();
    const idOfOther = (await node.sessionsOf(own)).find(({ current }) => !current)!.id;
    expect((await node.api.send('DELETE', `/api/auth/sessions/${idOfOther}`, { session: own })).status).toBe(
      204,
    );
    expect([await node.isIn(other), await node.isIn(own)]).toEqual([false, true]);
    const again = await node.api.send('DELETE', `/api/auth/sessions/${idOfOther}`, { session: own });
    expect([again.status, again.problem.error]).toEqual([404, 'not_found']);
    const [current] = await node.sessionsOf(own);
    const last = await node.api.send('DELETE', `/api/auth/sessions/${current!.id}`, { session: own });
    expect([last.status, sessionCookie(last)!.secret]).toEqual([204, '']);
    expect(await node.isIn(own)).toBe(false);
  });

  test('end at logout, on the server and in the browser', async () => {
    const session = await node.api.logIn();
    const answer = await node.api.send('POST', '/api/auth/logout', { session });
    expect([answer.status, sessionCookie(answer)!.secret]).toEqual([204, '']);
    expect(await node.isIn(session)).toBe(false);
    expect((await node.api.send('POST', '/api/auth/logout', { session })).status).toBe(204);
  });

  test('of one node are valid on another node, until they end on either node', async () => {
    const session = await node.api.logIn();
    const other = await RunningApi.start(node.suite.database, everyRoute(), { toml: '' });
    expect((await other.send('GET', '/api/groups', { session })).status).toBe(200);
    await node.api.send('POST', '/api/auth/logout', { session });
    expect((await other.send('GET', '/api/groups', { session })).status).toBe(401);
    await other.close();
  });
});
