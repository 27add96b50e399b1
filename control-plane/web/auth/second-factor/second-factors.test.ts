/** Logins with a second factor: required, accepted once, locked; and recovery codes. */
import { describe, expect, test } from '@jest/globals';
import { LoginAnswer, RecoveryCodes } from '../../../../shared/api/auth-api.ts';
import { everyRoute } from '../../../../test/support/parts/every-route.ts';
import {
  logInAs,
  makeToken,
  makeUser,
  USER_PASSWORD,
  withKey,
} from '../../../../test/support/parts/people.ts';
import { PASSWORD, RunningApi, sessionCookie } from '../../../../test/support/parts/running-api.ts';
import type { TestAnswer } from '../../../../test/support/parts/running-api.ts';
import { outcomeOf, SecondFactorSuite } from '../../../../test/support/parts/second-factor-suite.ts';

const suite = new SecondFactorSuite();

describe('a second factor at login', () => {
  test('is required, and a wrong code opens no session', async () => {
    const { app } = await suite.enable();
    const answers = [await suite.logIn(), await suite.logIn({ totp_code: app.code(5) })];
    expect(answers.map(outcomeOf)).toEqual([
      [401, 'second_factor_required'],
      [401, 'second_factor_wrong'],
    ]);
    expect(answers.map((answer) => sessionCookie(answer))).toEqual([undefined, undefined]);
    expect(answers[0]!.headers['www-authenticate']).toBeDefined();
    expect(await suite.node.sessionsOf(suite.session)).toHaveLength(1);
    const answer = await suite.logIn({ totp_code: app.code(), remember_me: true });
    expect(LoginAnswer.parse(answer.body)).toMatchObject({ username: 'admin', role: 'admin' });
    expect(await suite.node.isIn(sessionCookie(answer)!.secret)).toBe(true);
  });

  test('is not reported to a client without the password', async () => {
    const { app } = await suite.enable();
    const json = { password: 'wrong password', totp_code: app.code() };
    const [known, unknown] = [await suite.logIn(json), await suite.logIn({ ...json, username: 'unknown' })];
    expect([outcomeOf(known), known.text]).toEqual([[401, 'unauthorized'], unknown.text]);
    expect((await suite.logIn({ totp_code: app.code() })).status).toBe(200);
  });

  test('accepts a code one step early or late, with or without a space, and each code once', async () => {
    const { app } = await suite.enable();
    suite.node.api.clock.advanceSecs(300);
    const old = app.code(-1);
    const spaced = `${old.slice(0, 3)} ${old.slice(3)}`;
    expect(outcomeOf(await suite.logIn({ totp_code: app.code(-2) }))).toEqual([401, 'second_factor_wrong']);
    expect((await suite.logIn({ totp_code: spaced })).status).toBe(200);
    expect(outcomeOf(await suite.logIn({ totp_code: old }))).toEqual([401, 'second_factor_used']);
    expect((await suite.logIn({ totp_code: app.code(1) })).status).toBe(200);
    // Codes older than the last used one are also used up.
    expect(outcomeOf(await suite.logIn({ totp_code: app.code() }))).toEqual([401, 'second_factor_used']);
  });

  test('accepts exactly one of many logins with the same code', async () => {
    const { app } = await suite.enable();
    await suite.node.restart(
      'server.trusted_proxies = ["127.0.0.1/32"]\nauth.login_rate_limit_attempts = 100',
    );
    const json = { username: 'admin', password: PASSWORD, totp_code: app.code() };
    const send = (n: number): Promise<TestAnswer> =>
      suite.node.api.send('POST', '/api/auth/login', {
        json,
        headers: { 'x-forwarded-for': `192.0.2.${n}` },
      });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => send(n)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  test('is locked after wrong codes; a login without a code counts as neither failure nor success', async () => {
    const { app } = await suite.enable();
    for (let n = 0; n < 4; n++) expect((await suite.logIn({ totp_code: app.code(5) })).status).toBe(401);
    for (let n = 0; n < 10; n++)
      expect(outcomeOf(await suite.logIn())).toEqual([401, 'second_factor_required']);
    expect(outcomeOf(await suite.logIn({ totp_code: app.code(5) }))).toEqual([401, 'second_factor_wrong']);
    expect(outcomeOf(await suite.logIn({ totp_code: app.code() }))).toEqual([429, 'locked_out']);
    suite.node.api.clock.advanceSecs(900);
    expect((await suite.logIn({ totp_code: app.code() })).status).toBe(200);
  });

  test('is locked for all addresses together after ten times as many wrong codes', async () => {
    const { app } = await suite.enable();
    await suite.node.restart('server.trusted_proxies = ["127.0.0.1/32"]\nauth.login_rate_limit_attempts = 1');
    const send = (n: number, code: string): Promise<TestAnswer> =>
      suite.node.api.send('POST', '/api/auth/login', {
        json: { username: 'admin', password: PASSWORD, totp_code: code },
        headers: { 'x-forwarded-for': `192.0.2.${n}` },
      });
    for (let n = 1; n <= 10; n++) expect((await send(n, app.code(9))).status).toBe(401);
    expect(outcomeOf(await send(11, app.code()))).toEqual([429, 'locked_out']);
    suite.node.api.clock.advanceSecs(900);
    expect((await send(12, app.code())).status).toBe(200);
  });

  test('that was enabled on one node is required by another node', async () => {
    const { app } = await suite.enable();
    const other = await RunningApi.start(suite.node.suite.database, everyRoute(), {
      toml: '',
      clock: suite.node.api.clock,
    });
    expect(outcomeOf(await suite.logIn({}, other))).toEqual([401, 'second_factor_required']);
    expect((await suite.logIn({ totp_code: app.code() }, other)).status).toBe(200);
    expect(outcomeOf(await suite.logIn({ totp_code: app.code() }))).toEqual([401, 'second_factor_used']);
    await other.close();
  });

  test('accepts codes immediately after a clock that ran ahead was corrected', async () => {
    const { app } = await suite.enable();
    suite.node.api.clock.stepSecs(86_400);
    expect((await suite.logIn({ totp_code: app.code() })).status).toBe(200);
    suite.node.api.clock.stepSecs(-86_400);
    expect((await suite.logIn({ totp_code: app.code() })).status).toBe(200);
    expect(outcomeOf(await suite.logIn({ totp_code: app.code() }))).toEqual([401, 'second_factor_used']);
  });

  test('is not required for API tokens and for changing the password', async () => {
    await suite.enable();
    const { key } = await makeToken(suite.node.api, suite.session, { name: 'a' });
    expect((await withKey(suite.node.api, 'GET', '/groups', key)).status).toBe(200);
    for (const [method, path, json] of [
      ['GET', '', undefined],
      ['POST', '', { password: PASSWORD }],
      ['POST', '/disable', { password: PASSWORD }],
    ] as const)
      expect((await withKey(suite.node.api, method, `/auth/second-factor${path}`, key, json)).status).toBe(
        403,
      );
    const json = { current_password: PASSWORD, new_password: 'a better password' };
    const changed = await suite.node.api.send('POST', '/api/auth/change-password', {
      session: suite.session,
      json,
    });
    expect(changed.status).toBe(204);
    expect(outcomeOf(await suite.logIn({ password: 'a better password' }))).toEqual([
      401,
      'second_factor_required',
    ]);
  });
});

describe('recovery codes', () => {
  test('open one session each, in any letter case and with or without hyphens', async () => {
    const { codes } = await suite.enable();
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect((await suite.logIn({ recovery_code: first })).status).toBe(200);
    expect(outcomeOf(await suite.logIn({ recovery_code: first }))).toEqual([401, 'second_factor_wrong']);
    const typed = second.toUpperCase().replaceAll('-', '');
    expect((await suite.logIn({ recovery_code: typed })).status).toBe(200);
    expect(await suite.state()).toMatchObject({ recovery_codes_left: 8 });
  });

  test('are valid for one user only, and are stored as hashes', async () => {
    const { codes } = await suite.enable();
    await makeUser(suite.node.api, suite.session, { username: 'vera' });
    const own = await logInAs(suite.node.api, 'vera');
    await suite.enable(own, USER_PASSWORD);
    const stolen = await suite.logIn({ username: 'vera', password: USER_PASSWORD, recovery_code: codes[0] });
    expect(outcomeOf(stolen)).toEqual([401, 'second_factor_wrong']);
    const { rows } = await suite.node.suite.database.query<{ text: string }>(
      'SELECT r::text AS text FROM recovery_codes r',
    );
    expect(rows).toHaveLength(20);
    for (const { text } of rows) expect(text).toMatch(/^\(\d+,"\\\\x[0-9a-f]{64}"\)$/);
  });

  test('are replaced after the password or a code was given, and the old codes become invalid', async () => {
    const { app, codes } = await suite.enable();
    const proofs = [{ password: PASSWORD }, { totp_code: app.code() }];
    for (const proof of proofs) {
      const answer = await suite.post('/recovery-codes', proof);
      expect(RecoveryCodes.parse(answer.body).recovery_codes).not.toContain(codes[0]);
    }
    expect(outcomeOf(await suite.post('/recovery-codes', { totp_code: app.code() }))).toEqual([
      401,
      'second_factor_used',
    ]);
    expect(outcomeOf(await suite.logIn({ recovery_code: codes[0] }))).toEqual([401, 'second_factor_wrong']);
  });
});
