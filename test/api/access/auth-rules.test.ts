/**
 * The rules of authentication, one by one, over HTTP and a real database: the ten rules in the section of the
 * specification, its table of keys, and the entries about logins in its table of errors.
 */
import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { CompatSession } from '../../../shared/api/compat/compat-api.ts';
import { makeToken, withKey } from '../../support/parts/people.ts';
import { PASSWORD, sessionCookie, type TestAnswer } from '../../support/parts/running-api.ts';
import {
  type AuthCase,
  DAY_SECS,
  HOUR_SECS,
  expectLife,
  failures,
  get,
  node,
  outcome,
  post,
  signedIn,
} from './auth-case.ts';
import { AUTH_KEYS } from './auth-key-cases.ts';

const RULES: readonly AuthCase[] = [
  {
    rule: '1',
    what: 'a session or the key of a token suffices; without either, the answer is 401 with a challenge',
    run: async () => {
      const session = await signedIn();
      const { key } = await makeToken(node.api, session, { name: 'a' });
      const cookie = `svc_session=${session}`;
      const statuses = [];
      for (const headers of [
        {},
        { cookie },
        { 'x-api-key': key },
        { authorization: `Bearer ${key}` },
        { cookie, 'x-api-key': key },
        { cookie, 'x-api-key': 'not a key at all' },
        { cookie: `svc_session=${'A'.repeat(43)}`, 'x-api-key': key },
        { cookie: `svc_session=${key}` },
        { 'x-api-key': session },
        { authorization: `Bearer ${session}` },
      ])
        statuses.push((await get(headers)).status);
      expect(statuses).toEqual([401, 200, 200, 200, 200, 200, 200, 401, 401, 401]);
      expect((await get()).headers['www-authenticate']).toMatch(/\S+ realm="weir"/);
    },
  },
  {
    rule: '2',
    what: 'public routes need neither; a logout ends the session of its request',
    run: async () => {
      const session = await signedIn();
      const statuses = [
        await node.api.send('GET', '/api/auth/status'),
        await post('/auth/setup', { password: PASSWORD }),
        await node.logIn(PASSWORD),
        await post('/auth/logout', {}),
        await post('/auth/logout', {}, session),
        await node.api.send('GET', '/api/health'),
      ].map(({ status }) => status);
      expect(statuses).toEqual([200, 403, 200, 204, 204, 200]);
      expect(await node.isIn(session)).toBe(false);
    },
  },
  {
    rule: '3 and 9',
    what: 'no login succeeds before the setup, which works once, then returns 403; an Argon2id hash is stored',
    run: async () => {
      await node.restart('');
      expect(outcome(await get())).toEqual([401, 'setup_required']);
      expect(outcome(await node.logIn(PASSWORD))).toEqual([401, 'setup_required']);
      expect((await post('/auth/setup', { password: PASSWORD })).status).toBe(204);
      expect(outcome(await post('/auth/setup', { password: 'another password' }))).toEqual([
        403,
        'forbidden',
      ]);
      expect(outcome(await get())).toEqual([401, 'unauthorized']);
      expect([(await node.logIn('another password')).status, (await node.logIn(PASSWORD)).status]).toEqual([
        401, 200,
      ]);
      const { rows } = await node.suite.database.query('SELECT password_hash AS hash FROM admin_credential');
      expect(rows).toEqual([{ hash: expect.stringMatching(/^\$argon2id\$v=19\$/) }]);
    },
  },
  {
    rule: '4',
    what: 'a login sets the cookie svc_session; the session lives session_ttl_hours',
    run: async () => {
      await expectLife(24 * HOUR_SECS, false);
      const { attributes } = sessionCookie(await node.logIn(PASSWORD))!;
      expect(attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
    },
  },
  {
    rule: '4',
    what: 'with remember_me it lives remember_me_days, even if the browser is closed',
    run: async () => {
      await expectLife(30 * DAY_SECS, true);
      const answer = await post('/auth/login', { username: 'admin', password: PASSWORD, remember_me: true });
      expect(sessionCookie(answer)!.attributes.some((text) => text.startsWith('Expires='))).toBe(true);
    },
  },
  {
    rule: '5',
    what: 'after login_rate_limit_attempts failures the login is locked for login_rate_limit_window_secs',
    run: async () => {
      const session = await signedIn();
      expect(await failures(6)).toEqual([401, 401, 401, 401, 401, 429]);
      const locked = await node.logIn(PASSWORD);
      expect([outcome(locked), locked.headers['retry-after']]).toEqual([[429, 'locked_out'], '900']);
      expect(await node.isIn(session)).toBe(true);
      node.api.clock.advanceSecs(899);
      expect((await node.logIn(PASSWORD)).status).toBe(429);
      node.api.clock.advanceSecs(1);
      expect((await node.logIn(PASSWORD)).status).toBe(200);
    },
  },
  {
    rule: '6',
    what: 'only expired sessions are removed',
    run: async () => {
      await signedIn();
      await node.api.logIn({ remember_me: true });
      node.api.clock.advanceSecs(24 * HOUR_SECS);
      await node.api.parts.auth.removeExpired();
      const { rows } = await node.suite.database.query('SELECT remember_me FROM sessions');
      expect(rows).toEqual([{ remember_me: true }]);
    },
  },
  {
    rule: '7',
    what: 'sessions are listed and revoked',
    run: async () => {
      const [own, other] = [await signedIn(), await node.api.logIn()];
      const { id } = (await node.sessionsOf(own)).find(({ current }) => !current)!;
      expect((await node.api.send('DELETE', `/api/auth/sessions/${id}`, { session: own })).status).toBe(204);
      expect([await node.isIn(own), await node.isIn(other)]).toEqual([true, false]);
    },
  },
  {
    rule: '7',
    what: 'changing the password needs the old one, and ends other sessions',
    run: async () => {
      const [own, other] = [await signedIn(), await node.api.logIn()];
      const change = (current: string): Promise<TestAnswer> =>
        post('/auth/change-password', { current_password: current, new_password: 'a better password' }, own);
      expect([(await change('wrong password')).status, (await change(PASSWORD)).status]).toEqual([401, 204]);
      expect([await node.isIn(own), await node.isIn(other)]).toEqual([true, false]);
      expect((await node.logIn(PASSWORD)).status).toBe(401);
      expect((await node.logIn('a better password')).status).toBe(200);
    },
  },
  {
    rule: '8',
    what: 'a token is shown once, listed by its prefix, stored as SHA-256',
    run: async () => {
      const session = await signedIn();
      const { id, key, prefix } = await makeToken(node.api, session, { name: 'a' });
      const { text } = await node.api.send('GET', '/api/api-tokens', { session });
      expect([text.includes(key), text.includes(`"${prefix}"`), key.startsWith(prefix)]).toEqual([
        false,
        true,
        true,
      ]);
      const { rows } = await node.suite.database.query('SELECT key_hash FROM api_tokens WHERE id = $1', [id]);
      expect(rows).toEqual([{ key_hash: createHash('sha256').update(key).digest() }]);
    },
  },
  {
    rule: '8',
    what: 'a key that programs already use is imported by an update',
    run: async () => {
      const session = await signedIn();
      const { id, key } = await makeToken(node.api, session, { name: 'a' });
      const json = { key: 'V2hhdCBQaS1ob2xlIG1hZGU=' };
      const { status, text } = await node.api.send('PUT', `/api/api-tokens/${id}`, { session, json });
      expect([status, text.includes(json.key)]).toEqual([200, false]);
      const answers = [await withKey(node.api, 'GET', '/groups', key), await get({ 'x-api-key': json.key })];
      expect(answers.map((answer) => answer.status)).toEqual([401, 200]);
    },
  },
  {
    rule: '10',
    what: 'in compatibility mode both APIs share sessions, as cookie and header, and the password',
    run: async () => {
      await node.restart('server.alt_compat = true');
      const native = await signedIn();
      const login = await node.api.send('POST', '/api/auth', { json: { password: PASSWORD } });
      const { sid } = CompatSession.parse(login.body).session;
      const statuses = [];
      for (const headers of [{ cookie: `svc_session=${sid!}` }, { sid: sid! }, { cookie: `sid=${sid!}` }])
        statuses.push((await node.api.send('GET', '/svc/api/groups', { headers })).status);
      for (const headers of [{ cookie: `svc_session=${native}` }, { sid: native }])
        statuses.push((await node.api.send('GET', '/api/auth', { headers })).status);
      const wrong = await node.api.send('POST', '/api/auth', { json: { password: 'wrong password' } });
      expect([...statuses, wrong.status]).toEqual([200, 200, 200, 200, 200, 401]);
    },
  },
];

describe('a rule about authentication', () => {
  test.each([...RULES])('rule $rule: $what', ({ run }) => run());
});

describe('a configuration key about authentication', () => {
  test.each([...AUTH_KEYS])('$rule $what', ({ run }) => run());
});
