/** Effect of each key of `[auth]`, over HTTP and a real database; run by `auth-rules.test.ts`. */
import { expect } from '@jest/globals';
import { PASSWORD, PASSWORD_HASH } from '../../support/parts/running-api.ts';
import { type AuthCase, DAY_SECS, HOUR_SECS, expectLife, failures, get, node, post } from './auth-case.ts';

/** A case for each key of `[auth]`. */
export const AUTH_KEYS: readonly AuthCase[] = [
  {
    rule: 'auth.enabled',
    what: 'false disables authentication',
    run: async () => {
      expect((await get()).status).toBe(401);
      await node.restart('auth.enabled = false');
      expect((await get()).status).toBe(200);
    },
  },
  {
    rule: 'auth.session_ttl_hours',
    what: 'sets the lifetime of a session',
    run: async () => {
      await node.restart('auth.session_ttl_hours = 2');
      await expectLife(2 * HOUR_SECS, false);
    },
  },
  {
    rule: 'auth.remember_me_days',
    what: 'sets the lifetime of a session with remember_me',
    run: async () => {
      await node.restart('auth.remember_me_days = 3');
      await expectLife(3 * DAY_SECS, true);
    },
  },
  {
    rule: 'auth.login_rate_limit_attempts',
    what: 'limits the failed logins',
    run: async () => {
      await node.restart('auth.login_rate_limit_attempts = 2');
      await node.api.setUp();
      expect(await failures(3)).toEqual([401, 401, 429]);
    },
  },
  {
    rule: 'auth.login_rate_limit_window_secs',
    what: 'sets how long the login stays locked',
    run: async () => {
      await node.restart('auth.login_rate_limit_window_secs = 60');
      await node.api.setUp();
      await failures(5);
      node.api.clock.advanceSecs(59);
      expect((await node.logIn(PASSWORD)).status).toBe(429);
      node.api.clock.advanceSecs(1);
      expect((await node.logIn(PASSWORD)).status).toBe(200);
    },
  },
  {
    rule: 'auth.admin.username',
    what: 'sets the only name of the administrator',
    run: async () => {
      await node.restart('auth.admin.username = "frida"');
      await node.api.setUp();
      expect((await node.logIn(PASSWORD)).status).toBe(401);
      expect((await node.logIn(PASSWORD, { username: 'frida' })).status).toBe(200);
    },
  },
  {
    rule: 'auth.admin.password_hash',
    what: 'overrides a stored password, and makes the setup unnecessary',
    run: async () => {
      await node.restart(`auth.admin.password_hash = "${PASSWORD_HASH}"`);
      expect((await post('/auth/setup', { password: 'another password' })).status).toBe(403);
      expect((await node.logIn(PASSWORD)).status).toBe(200);
      const { text } = await node.api.send('GET', '/api/config', { session: await node.api.logIn() });
      expect(text).not.toContain(PASSWORD_HASH);
    },
  },
];
