import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { CHEAP_HASHING } from '../../../test/support/parts/cheap-hashing.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { DatabaseUnavailable, OutcomeUnknown } from '../../storage/db/database-errors.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { type Caller, SYSTEM } from '../../api/caller.ts';
import { Authenticator } from './authenticator.ts';
import { ConfiguredPassword } from './accounts/configured-password.ts';
import { SetupCode } from './setup-code.ts';

const PASSWORD = 'correct horse';
const HERE = { address: '192.0.2.7', userAgent: null };
const HOUR_MS = 3_600_000;

let own: TestDatabase;
let clock: TestClock;
let isAway: boolean;
/** Whether no COMMIT gets a response. */
let isSilent: boolean;
let logger: MemoryLogger;
let authenticator: Authenticator;

beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE admin_credential, sessions, login_failures');
  clock = new TestClock();
  logger = new MemoryLogger();
  isAway = isSilent = false;
  authenticator = make();
  await authenticator.setUp(PASSWORD, { isLocal: true, address: '127.0.0.1', setupCode: undefined });
});
afterAll(() => own.stop());

function make(toml = ''): Authenticator {
  const config = testConfig(
    `auth.session_ttl_hours = 12\nauth.remember_me_days = 30\nauth.login_rate_limit_attempts = 3\n${toml}`,
  );
  const database = Object.assign(Object.create(own.database) as Database, {
    query: (text: string, values?: readonly unknown[]) =>
      isAway ? Promise.reject(new DatabaseUnavailable('away')) : own.database.query(text, values),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
      isSilent ? Promise.reject(new OutcomeUnknown('silent')) : own.database.transaction(work),
  });
  return new Authenticator({
    config: () => config,
    configured: new ConfiguredPassword({ config, file: null }),
    database,
    clock,
    logger,
    setupCode: new SetupCode(own.dataDir, logger),
    hashing: CHEAP_HASHING,
  });
}

async function logIn(rememberMe = false): Promise<string> {
  const attempt = { username: 'admin', password: PASSWORD, rememberMe, code: null };
  return (await authenticator.logIn(attempt, HERE)).secret;
}

async function callerOf(secret: string): Promise<Caller | null> {
  return authenticator.callerOf({ secrets: [secret], key: null });
}

describe('Authenticator, which checks sessions, tokens and passwords,', () => {
  test('callerOf() accepts a session until it expires; with "remember me", it expires later', async () => {
    const [short, long] = [await logIn(), await logIn(true)];
    expect(await callerOf(short)).toMatchObject({ username: 'admin', role: 'admin' });
    clock.advance(12 * HOUR_MS - 1);
    expect(await callerOf(short)).not.toBeNull();
    clock.advance(1);
    expect([await callerOf(short), await callerOf('x')]).toEqual([null, null]);
    clock.advance(30 * 24 * HOUR_MS - 12 * HOUR_MS - 1);
    expect(await callerOf(long)).not.toBeNull();
    clock.advance(1);
    expect(await callerOf(long)).toBeNull();
  });

  test('callerOf() neither ends nor extends a session when the wall clock is set', async () => {
    const secret = await logIn();
    await callerOf(secret);
    clock.wallMs += 24 * HOUR_MS;
    expect(await callerOf(secret)).not.toBeNull();
    clock.wallMs -= 48 * HOUR_MS;
    clock.advance(12 * HOUR_MS - 1);
    expect(await callerOf(secret)).not.toBeNull();
    clock.advance(1);
    expect(await callerOf(secret)).toBeNull();
  });

  test('callerOf() accepts only sessions that it saw before the database became unavailable', async () => {
    const secret = await logIn();
    const ended = await logIn();
    await authenticator.sessions.endOf(ended);
    isAway = true;
    expect(await callerOf(secret)).toMatchObject({ username: 'admin' });
    await expect(callerOf(ended)).rejects.toThrow(DatabaseUnavailable);
    await expect(callerOf('unknown')).rejects.toThrow(DatabaseUnavailable);
  });

  test('callerOf() records at most once a minute that a session was used', async () => {
    const secret = await logIn();
    const lastSeenMs = async (): Promise<number> =>
      (await authenticator.sessions.list())[0]!.lastSeenAt.getTime() - clock.nowMs();
    clock.advance(59_999);
    await callerOf(secret);
    expect(await lastSeenMs()).toBe(-59_999);
    clock.advance(1);
    await callerOf(secret);
    expect(await lastSeenMs()).toBe(0);
  });

  test('logIn() locks after the configured number of failures, and resets their count after the correct password', async () => {
    const wrong = (): Promise<unknown> =>
      authenticator.logIn({ username: 'admin', password: 'wrong', rememberMe: false, code: null }, HERE);
    for (let time = 0; time < 2; time++) await expect(wrong()).rejects.toMatchObject({ status: 401 });
    await logIn();
    for (let time = 0; time < 3; time++) await expect(wrong()).rejects.toMatchObject({ status: 401 });
    await expect(logIn()).rejects.toMatchObject({ status: 429, code: 'locked_out' });
    expect(logger.text()).not.toContain(PASSWORD);
  });

  test('logIn() does not count attempts whose password was not checked', async () => {
    isAway = true;
    for (let time = 0; time < 5; time++) await expect(logIn()).rejects.toThrow(DatabaseUnavailable);
    isAway = false;
    await expect(logIn()).resolves.toEqual(expect.any(String));
  });

  test('changePassword() ends all sessions except the current one, and counts a wrong password as a failed login', async () => {
    const [mine, other] = [await logIn(), await logIn()];
    const caller = (await callerOf(mine))!;
    await expect(
      authenticator.changePassword(caller, { current: 'wrong', next: 'new' }, HERE),
    ).rejects.toMatchObject({ status: 401 });
    expect((await own.database.query('SELECT 1 FROM login_failures')).rows).toHaveLength(1);
    await authenticator.changePassword(caller, { current: PASSWORD, next: 'a new one' }, HERE);
    expect(await callerOf(mine)).toEqual(caller);
    expect(await callerOf(other)).toBeNull();
    isAway = true;
    await expect(callerOf(other)).rejects.toThrow(DatabaseUnavailable);
    isAway = false;
    await expect(logIn()).rejects.toMatchObject({ status: 401 });
  });

  test('sessions.revoke() ends a session on this node even if the database fails, and is 404 for other users', async () => {
    const secret = await logIn();
    const { sessionId } = (await callerOf(secret))!;
    await authenticator.sessions.revoke(SYSTEM, sessionId!);
    isAway = true;
    await expect(callerOf(secret)).rejects.toThrow(DatabaseUnavailable);
    isAway = false;
    await expect(authenticator.sessions.revoke(SYSTEM, sessionId!)).rejects.toMatchObject({ status: 404 });
  });

  test.each<[string, (caller: Caller, secret: string) => Promise<void>]>([
    ['sessions.endOf', (_caller, secret) => authenticator.sessions.endOf(secret)],
    ['sessions.revoke', ({ sessionId }) => authenticator.sessions.revoke(SYSTEM, sessionId!)],
    [
      'changePassword',
      (caller) =>
        authenticator.changePassword(
          { ...caller, sessionId: null },
          { current: PASSWORD, next: 'a new one' },
          HERE,
        ),
    ],
  ])('%s() removes a session from memory if the database may have ended that session', async (_name, end) => {
    const secret = await logIn();
    const caller = (await callerOf(secret))!;
    isSilent = true;
    let ends = 0;
    const stop = authenticator.sessions.onEnded(() => ends++);
    await expect(end(caller, secret)).rejects.toThrow(OutcomeUnknown);
    stop();
    await expect(end(caller, secret)).rejects.toThrow(OutcomeUnknown);
    expect(ends).toBe(1);
    isAway = true;
    await expect(callerOf(secret)).rejects.toThrow(DatabaseUnavailable);
    isAway = false;
    expect(await callerOf(secret)).toEqual(caller);
  });

  test('removeExpired() deletes expired sessions, unless the clock was just set', async () => {
    await logIn();
    const stored = async (): Promise<number> =>
      (await own.database.query('SELECT 1 FROM sessions')).rows.length;
    await authenticator.removeExpired();
    clock.advance(6 * HOUR_MS);
    clock.wallMs += 24 * HOUR_MS;
    await authenticator.removeExpired();
    expect(await stored()).toBe(1);
    clock.advance(6 * HOUR_MS);
    await authenticator.removeExpired();
    expect(await stored()).toBe(0);
  });

  test('openCaller() returns the administrator if authentication is disabled, otherwise null', () => {
    expect(authenticator.openCaller()).toBeNull();
    expect(make('auth.enabled = false').openCaller()).toEqual({
      username: 'admin',
      role: 'admin',
      userId: 1,
      tokenId: null,
      sessionId: null,
      clientIds: null,
    });
  });

  test('setUp() from another machine requires the setup code, which is deleted afterwards', async () => {
    await asOwner(own.database, 'TRUNCATE admin_credential');
    const fresh = make();
    const code = (await fresh.pendingSetupCode())!;
    const stranger = { isLocal: false, address: '192.0.2.7' };
    for (const setupCode of [undefined, 'wrong'])
      await expect(fresh.setUp('x', { ...stranger, setupCode })).rejects.toMatchObject({ status: 403 });
    expect(await fresh.status()).toMatchObject({ password_configured: false, setup_required: true });
    await fresh.setUp(PASSWORD, { ...stranger, setupCode: code.toUpperCase() });
    expect(await fresh.pendingSetupCode()).toBeNull();
    expect(logger.text()).not.toContain(code);
    isAway = true;
    const known = { enabled: true, password_configured: true, setup_required: false };
    expect(await fresh.status()).toEqual(known);
    // A node that started after that does not know whether a password is set.
    const unknown = { password_configured: null, setup_required: null };
    expect(await make().status()).toEqual({ enabled: true, ...unknown });
    expect(await make('auth.enabled = false').status()).toEqual({
      ...unknown,
      enabled: false,
      setup_required: false,
    });
  });
});
