/** Logins at a real OpenID provider, through a browser that keeps cookies, and the resulting users. */
import { describe, expect, test } from '@jest/globals';
import { OidcSuite, VERA } from '../../../test/support/parts/oidc-suite.ts';
import { TestBrowser } from '../../../test/support/parts/openid-provider.ts';
import { makeUser, USER_PASSWORD } from '../../../test/support/parts/people.ts';

const suite = new OidcSuite();

describe('a login with OpenID Connect', () => {
  test('creates a user at the first login from claims that give a role, and opens a session', async () => {
    const first = await suite.logIn();
    expect([first.status, first.text]).toEqual([200, expect.stringContaining('You are logged in')]);
    expect(await suite.users()).toEqual(['admin: admin', 'vera: viewer']);
    expect(await suite.node.isIn(first.secret!)).toBe(true);
    const change = await suite.node.api.send('POST', '/api/groups', {
      session: first.secret!,
      json: { name: 'x' },
    });
    expect(change.status).toBe(403);
    const second = await suite.logIn('/login/oidc?remember_me=true&return_to=/docs?a=b');
    expect(second.text).toContain('url=/docs?a=b');
    const listed = await suite.node.sessionsOf(suite.session);
    expect(listed.map(({ username, remember_me }) => [username, remember_me])).toEqual([
      ['vera', true],
      ['vera', false],
      ['admin', false],
    ]);
    expect(await suite.users()).toHaveLength(2);
    const { rows } = await suite.node.suite.database.query<{ row: string }>(
      `SELECT actor || ' ' || action || ' ' || subject AS row FROM audit_log`,
    );
    expect(rows.map(({ row }) => row)).toEqual(['vera created user vera']);
  });

  test('creates a user with the role family, who sees no devices until an administrator assigns some', async () => {
    await suite.serve('family_values = ["family"]');
    const { secret } = await suite.logIn();
    const users = await suite.node.api.send('GET', '/api/users', { session: suite.session });
    expect(users.body).toMatchObject([{ role: 'admin' }, { role: 'family', client_ids: [] }]);
    const clients = await suite.node.api.send('GET', '/api/clients', { session: secret! });
    expect([clients.status, clients.body]).toMatchObject([200, { total: 0, data: [] }]);
    expect(await suite.node.isIn(secret!)).toBe(false);
    await suite.serve('viewer_values = ["family"]');
    await suite.logIn();
    expect((await suite.node.api.send('GET', '/api/clients', { session: secret! })).status).toBe(401);
  });

  test('uses the current role, and ends the sessions of a user who lost the role', async () => {
    const before = await suite.logIn();
    suite.provider.person = { ...VERA, groups: 'weir-admins' };
    const raised = await suite.logIn();
    expect(await suite.users()).toEqual(['admin: admin', 'vera: admin']);
    suite.provider.person = VERA;
    const lowered = await suite.logIn();
    const living = [before, raised, lowered].map(({ secret }) => suite.node.isIn(secret!));
    expect(await Promise.all(living)).toEqual([false, false, true]);
    suite.provider.person = { ...VERA, groups: [] };
    expect((await suite.logIn()).status).toBe(403);
    expect(await suite.node.isIn(lowered.secret!)).toBe(false);
  });

  test('uses user_claim and role_claim, and requests the configured scope', async () => {
    const claims = 'user_claim = "preferred_username"\nrole_claim = "name"\nadmin_values = ["weir-admins"]';
    await suite.serve(`scope = "openid profile"\n${claims}`);
    const { headers } = await new TestBrowser().get(`${suite.weir}/login/oidc`);
    expect(new URL(headers.get('location')!).searchParams.get('scope')).toBe('openid profile');
    suite.provider.person = { ...VERA, groups: [], name: 'weir-admins' };
    expect((await suite.logIn()).status).toBe(200);
    expect(await suite.users()).toEqual(['admin: admin', 'vera: admin']);
  });

  test('rejects a person without a role, and creates no user', async () => {
    suite.provider.person = { sub: 'stranger', preferred_username: 'admin', groups: ['others'] };
    const { status, text, secret } = await suite.logIn();
    expect([status, secret]).toEqual([403, undefined]);
    expect(text).toContain('no access to Weir');
    expect(await suite.users()).toEqual(['admin: admin']);
  });

  test('with a name that is in use creates a user with a different name, and changes no existing user', async () => {
    await makeUser(suite.node.api, suite.session, { username: 'Vera', role: 'admin' });
    expect((await suite.logIn()).status).toBe(200);
    suite.provider.person = { ...VERA, sub: 'person-2', preferred_username: 'ADMIN' };
    expect((await suite.logIn()).status).toBe(200);
    expect(await suite.users()).toEqual([
      'admin: admin',
      expect.stringMatching(/^ADMIN-[0-9a-f]{12}: viewer$/),
      'Vera: admin',
      expect.stringMatching(/^vera-[0-9a-f]{12}: viewer$/),
    ]);
  });

  test('as a user listed in allowed_users has the rights of that user', async () => {
    await makeUser(suite.node.api, suite.session, { username: 'otto', role: 'admin' });
    await suite.serve('allowed_users = ["person-1=Otto", "person-2=admin", "person-3=unknown"]');
    const names = [];
    for (const sub of ['person-1', 'person-2']) {
      suite.provider.person = { sub };
      const { secret } = await suite.logIn();
      names.push((await suite.node.sessionsOf(secret!)).find(({ current }) => current)!.username);
    }
    expect(names).toEqual(['otto', 'admin']);
    for (const sub of ['person-3', 'otto', 'admin']) {
      suite.provider.person = { sub };
      expect([sub, (await suite.logIn()).status]).toEqual([sub, 403]);
    }
    expect((await suite.logIn()).secret).toBeUndefined();
  });

  test('as a disabled user is rejected, however the user was created', async () => {
    const { id } = await makeUser(suite.node.api, suite.session, { username: 'otto' });
    expect((await suite.logIn()).status).toBe(200);
    await suite.node.suite.database.query('UPDATE users SET enabled = false WHERE id <> 1');
    expect((await suite.logIn()).status).toBe(403);
    await suite.serve('allowed_users = ["person-1=otto"]');
    expect([(await suite.logIn()).status, id > 1]).toEqual([403, true]);
  });

  test('does not create a password for the user', async () => {
    await suite.logIn();
    expect((await suite.node.logIn(USER_PASSWORD, { username: 'vera' })).status).toBe(401);
    expect((await suite.node.logIn('', { username: 'vera' })).status).toBe(400);
  });

  test('of one person in many browsers at the same time creates one user', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => suite.logIn()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await suite.users()).toEqual(['admin: admin', 'vera: viewer']);
  });
});
