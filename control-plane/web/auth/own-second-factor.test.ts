/** A user's own second factor over HTTP: enabled, disabled, and removed after the user has lost it. */
import { describe, expect, test } from '@jest/globals';
import { SecondFactorSecret } from '../../../shared/api/auth-api.ts';
import { UserList } from '../../../shared/api/users-api.ts';
import { AuthenticatorApp } from '../../../test/support/parts/authenticator-app.ts';
import { logInAs, makeToken, makeUser, USER_PASSWORD, withKey } from '../../../test/support/parts/people.ts';
import { PASSWORD, type TestAnswer } from '../../../test/support/parts/running-api.ts';
import {
  outcomeOf,
  SecondFactorSuite,
  type ShownFactor,
} from '../../../test/support/parts/second-factor-suite.ts';

const suite = new SecondFactorSuite();

describe('a second factor of the current user', () => {
  test('is disabled at first, and a code that is not needed is ignored', async () => {
    expect(await suite.state()).toEqual({ enabled: false, pending: false, recovery_codes_left: 0 });
    expect((await suite.logIn({ totp_code: '123456' })).status).toBe(200);
  });

  test('is required only after its first code was confirmed', async () => {
    const { body } = await suite.post('', { password: PASSWORD });
    const { secret, uri } = SecondFactorSecret.parse(body);
    expect(uri).toContain(`secret=${secret}`);
    expect(await suite.state()).toEqual({ enabled: false, pending: true, recovery_codes_left: 0 });
    expect((await suite.logIn()).status).toBe(200);
    const app = new AuthenticatorApp(secret, suite.node.api.clock);
    const guessed = await suite.post('/confirm', { totp_code: app.wrongCode() });
    expect(outcomeOf(guessed)).toEqual([401, 'second_factor_wrong']);
    expect((await suite.logIn()).status).toBe(200);
    expect((await suite.post('/confirm', { totp_code: app.code() })).status).toBe(200);
    expect(outcomeOf(await suite.logIn())).toEqual([401, 'second_factor_required']);
    expect(await suite.state()).toEqual({ enabled: true, pending: false, recovery_codes_left: 10 });
    expect(outcomeOf(await suite.post('/confirm', { totp_code: app.code() }))).toEqual([409, 'conflict']);
    expect(outcomeOf(await suite.post('', { password: PASSWORD }))).toEqual([409, 'conflict']);
  });

  test('gets a new secret at each enrolment, and only the newest secret is valid', async () => {
    const apps: AuthenticatorApp[] = [];
    for (let n = 0; n < 2; n++) {
      const { body } = await suite.post('', { password: PASSWORD });
      apps.push(new AuthenticatorApp(SecondFactorSecret.parse(body).secret, suite.node.api.clock));
    }
    const near = [-1, 0, 1].map((ahead) => apps[1]!.code(ahead));
    const older = [0, 1, -1, 2].map((ahead) => apps[0]!.code(ahead)).find((code) => !near.includes(code));
    expect((await suite.post('/confirm', { totp_code: older })).status).toBe(401);
    expect((await suite.post('/confirm', { totp_code: apps[1]!.code() })).status).toBe(200);
  });

  test('ends the other sessions, which were opened with a password alone, when it is enabled', async () => {
    const other = await suite.node.api.logIn();
    await suite.enable();
    expect([await suite.node.isIn(suite.session), await suite.node.isIn(other)]).toEqual([true, false]);
  });
});

describe('disabling the second factor', () => {
  test.each<[string, (shown: ShownFactor) => object]>([
    ['the password', () => ({ password: PASSWORD })],
    ['a code', ({ app }) => ({ totp_code: app.code() })],
    ['a recovery code', ({ codes }) => ({ recovery_code: codes[3] })],
  ])('accepts %s as proof', async (_what, proof) => {
    const shown = await suite.enable();
    expect((await suite.post('/disable', proof(shown))).status).toBe(204);
    expect((await suite.logIn()).status).toBe(200);
    expect(await suite.state()).toEqual({ enabled: false, pending: false, recovery_codes_left: 0 });
    expect(outcomeOf(await suite.post('/disable', { password: PASSWORD }))).toEqual([409, 'conflict']);
    expect(outcomeOf(await suite.post('/recovery-codes', { password: PASSWORD }))).toEqual([409, 'conflict']);
  });

  test('rejects and counts a wrong proof, and rejects zero or two proofs', async () => {
    const { app } = await suite.enable();
    const wrong = [{ password: 'wrong password' }, { totp_code: app.code(7) }, { recovery_code: 'aaaa' }];
    const answers = [];
    for (const proof of [...wrong, ...wrong]) answers.push(outcomeOf(await suite.post('/disable', proof)));
    expect(answers).toEqual([
      [401, 'unauthorized'],
      [401, 'second_factor_wrong'],
      [401, 'second_factor_wrong'],
      [401, 'unauthorized'],
      [401, 'second_factor_wrong'],
      [429, 'locked_out'],
    ]);
    for (const proof of [{}, { password: PASSWORD, totp_code: app.code() }])
      expect((await suite.post('/disable', proof)).status).toBe(400);
    expect(await suite.state()).toMatchObject({ enabled: true });
  });

  test('deletes a secret that was not confirmed', async () => {
    await suite.post('', { password: PASSWORD });
    expect((await suite.post('/disable', { password: PASSWORD })).status).toBe(204);
    expect(await suite.state()).toMatchObject({ pending: false });
    expect(outcomeOf(await suite.post('/confirm', { totp_code: '123456' }))).toEqual([409, 'conflict']);
  });

  test("requires the user's own password", async () => {
    await makeUser(suite.node.api, suite.session, { username: 'vera' });
    const own = await logInAs(suite.node.api, 'vera');
    expect((await suite.post('', { password: PASSWORD }, own)).status).toBe(401);
    expect((await suite.post('', { password: USER_PASSWORD }, own)).status).toBe(201);
  });
});

describe('the second factor of another user', () => {
  const remove = (id: number, own = suite.session): Promise<TestAnswer> =>
    suite.node.api.send('DELETE', `/api/users/${id}/second-factor`, { session: own });

  test('can be removed by an administrator, but not by a viewer', async () => {
    const { id } = await makeUser(suite.node.api, suite.session, { username: 'vera' });
    const own = await logInAs(suite.node.api, 'vera');
    expect(outcomeOf(await remove(id))).toEqual([404, 'not_found']);
    await suite.enable(own, USER_PASSWORD);
    const { body } = await suite.node.api.send('GET', '/api/users', { session: suite.session });
    expect(UserList.parse(body).map(({ second_factor: has }) => has)).toEqual([false, true]);
    expect((await remove(id, own)).status).toBe(403);
    expect((await remove(id)).status).toBe(204);
    expect(await suite.node.isIn(await logInAs(suite.node.api, 'vera'))).toBe(true);
    expect([(await remove(id)).status, (await remove(4711)).status]).toEqual([404, 404]);
  });

  test('cannot be removed by the user or for the configured administrator', async () => {
    await makeUser(suite.node.api, suite.session, { username: 'otto', role: 'admin' });
    const own = await logInAs(suite.node.api, 'otto');
    await suite.enable();
    const { key } = await makeToken(suite.node.api, suite.session, { name: 'a' });
    expect([(await remove(1)).status, (await remove(1, own)).status]).toEqual([403, 403]);
    expect((await withKey(suite.node.api, 'DELETE', '/users/1/second-factor', key)).status).toBe(403);
    expect(outcomeOf(await suite.logIn())).toEqual([401, 'second_factor_required']);
  });
});

test('second-factor secrets and codes are in no list, log, audit entry or backup', async () => {
  const { app, codes } = await suite.enable();
  await suite.logIn({ recovery_code: codes[0] });
  await suite.logIn({ totp_code: app.code(3) });
  await suite.post('/recovery-codes', { password: PASSWORD });
  await suite.post('/disable', { password: PASSWORD });
  const { rows } = await suite.node.suite.database.query<{ row: string }>(
    `SELECT actor || ' ' || action || ' ' || subject AS row FROM audit_log ORDER BY id`,
  );
  expect(rows.map(({ row }) => row)).toEqual([
    'admin prepared second factor of admin',
    'admin enabled second factor of admin',
    'admin used recovery code of admin',
    'admin replaced recovery codes of admin',
    'admin disabled second factor of admin',
  ]);
  const { app: again, codes: others } = await suite.enable();
  const texts = [JSON.stringify(suite.node.api.logger.lines)];
  for (const path of ['/audit-log', '/users', '/auth/second-factor', '/config', '/backup']) {
    const answer = await suite.node.api.send('GET', `/api${path}`, { session: suite.session });
    expect([path, answer.status]).toEqual([path, 200]);
    texts.push(answer.text);
  }
  const json = { passphrase: 'twelve characters' };
  texts.push((await suite.node.api.send('POST', '/api/backup', { session: suite.session, json })).text);
  const hidden = [app.secret, again.secret, ...codes, ...others];
  for (const text of texts) expect(hidden.filter((secret) => text.includes(secret))).toEqual([]);
});
