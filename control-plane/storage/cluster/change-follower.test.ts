import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { type PolicyPosition, setMark, VERSIONED } from './policy-position.ts';
import { ChangeFollower } from './change-follower.ts';

let own: TestDatabase;
let follower: ChangeFollower;
/** The last position up to which policy must be applied. */
let position: PolicyPosition | null;
let reported: string[];
let logger: MemoryLogger;
/** The mark that policy reports as reached. */
let policyMark: number | null = null;
const ofPolicy = { mark: () => policyMark };

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query(`
    INSERT INTO list_sources (id, name, url) VALUES (1, 'ads', 'https://ads.example/');
    INSERT INTO users (id, username, role) VALUES (2, 'vera', 'viewer');
    INSERT INTO api_tokens (id, name, key_hash, prefix, role) VALUES (5, 'phone', '\\x00', 'weir_', 'admin');
    INSERT INTO sessions (id, secret_hash, ip_address, created_at, last_seen_at, expires_at, remember_me, user_id)
      VALUES (7, '\\x00', '192.0.2.1', now(), now(), now(), false, 2)`);
});
beforeEach(async () => {
  position = null;
  reported = [];
  logger = new MemoryLogger();
  const catchUp = async (known: () => PolicyPosition): Promise<void> => {
    position = known();
  };
  follower = new ChangeFollower(own.database, { ...ofPolicy, catchUp }, logger, () => undefined);
  for (const table of ['access', 'list_sources', 'list_copies'] as const)
    follower.onChange(table, () => reported.push(table));
  await until(
    'the follower to read its first position',
    () => position,
    (now) => now !== null,
  );
  reported.length = 0;
});
afterEach(() => follower.close());
afterAll(() => own.stop());

/**
 * Tables that are reported as changed after a statement. The statement also adds a rule, whose table is always
 * reported.
 */
async function reportedBy(statement: string): Promise<readonly string[]> {
  const before = position!.versions['managed_domains'];
  await own.database.query(statement);
  await own.database.query(
    `INSERT INTO managed_domains (name, domain, action) VALUES ('x', 'x.example', 'deny')`,
  );
  await until(
    'policy to catch up with the rule',
    () => position!.versions['managed_domains'],
    (now) => now !== before,
  );
  await own.database.query('DELETE FROM managed_domains');
  return [...new Set(reported)];
}

describe('ChangeFollower', () => {
  test.each([
    ['DELETE FROM sessions WHERE id = 7', ['access']],
    [`UPDATE users SET role = 'admin' WHERE id = 2`, ['access']],
    [`UPDATE users SET display_name = 'Vera' WHERE id = 2`, []],
    [`UPDATE api_tokens SET last_used_at = now()`, []],
    [`UPDATE api_tokens SET role = 'viewer'`, ['access']],
    ['DELETE FROM api_tokens', ['access']],
    [`UPDATE list_sources SET status = 'updating', last_checked_at = now()`, []],
    [`UPDATE list_sources SET content_key = 'copy'`, ['list_copies']],
    [`UPDATE list_sources SET enabled = false`, ['list_sources']],
    ['DELETE FROM list_sources', ['list_sources']],
  ])('calls the right listeners after %s', async (statement, tables) => {
    expect(await reportedBy(statement)).toEqual(tables);
  });

  test.each([
    `INSERT INTO blocking_switch (enabled) VALUES (false)`,
    `INSERT INTO config_values (key, value) VALUES ('dns.bootstrap', '[]')`,
    `INSERT INTO revisions (author, summary) VALUES ('ada', 'x')`,
  ])('reports a new position to policy after %s', async (statement) => {
    const before = JSON.stringify(position);
    await own.database.query(statement);
    await until(
      'policy to catch up',
      () => JSON.stringify(position),
      (now) => now !== before,
    );
  });

  test('detects changes made while the database was unavailable', async () => {
    await follower.close();
    const before = position!.revision;
    await own.database.query(`INSERT INTO revisions (author, summary) VALUES ('ada', 'x')`);
    const late: number[] = [];
    const catchUp = async (known: () => PolicyPosition): Promise<void> => void late.push(known().revision);
    follower = new ChangeFollower(own.database, { ...ofPolicy, catchUp }, logger, () => undefined);
    await until(
      'the second follower to catch up',
      () => late.length,
      (count) => count > 0,
    );
    expect(late[0]).toBe(before + 1);
  });

  test('continues to follow changes after table versions and the last mark were lost, and logs that', async () => {
    expect(logger.text()).not.toContain('could not follow all changes');
    const { rows } = await own.database.query<{ name: string; version: string }>(
      'DELETE FROM table_versions RETURNING name, version',
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(VERSIONED);
    await own.database.query(
      `INSERT INTO meta (key, value) VALUES ('position_mark', '"x"') ON CONFLICT (key) DO UPDATE SET value = '"x"'`,
    );
    const both = /no row "access".*"position_mark" in "meta" is not a number/;
    await until(
      'both faults to be logged',
      () => logger.lines,
      (lines) => lines.some(({ fields }) => both.test(String(fields['fault']))),
    );
    const before = position!.revision;
    await own.database.query(`INSERT INTO revisions (author, summary) VALUES ('ada', 'x')`);
    await until(
      'policy to reach the next revision',
      () => position!.revision,
      (now) => now === before + 1,
    );
    await own.database.query(
      'INSERT INTO table_versions SELECT * FROM json_populate_recordset(NULL::table_versions, $1)',
      [JSON.stringify(rows)],
    );
    const mark = await setMark(own.database);
    await until(
      'policy to reach the mark with all versions',
      () => position!,
      (now) => now.mark === mark && now.versions['access'] !== undefined,
    );
    expect(own.logger.text()).not.toContain('database is down');
  });

  test('reports a mark as reached when policy and all listeners have processed the changes before it', async () => {
    const taken = Promise.withResolvers<undefined>();
    follower.onChange('access', () => taken.promise);
    await own.database.query(`UPDATE users SET role = 'viewer' WHERE id = 2`);
    const mark = await setMark(own.database);
    await until(
      'policy to reach the mark',
      () => position!.mark,
      (now) => now === mark,
    );
    policyMark = mark;
    expect(follower.mark()).not.toBe(mark);
    taken.resolve(undefined);
    await until(
      'the follower to reach the mark',
      () => follower.mark(),
      (now) => now === mark,
    );
    policyMark = mark - 1;
    expect(follower.mark()).toBe(mark - 1);
    policyMark = null;
    expect(follower.mark()).toBeNull();
  });

  test('reports no later mark as reached while a listener fails, and calls the listener until it succeeds', async () => {
    let isFailing = true;
    follower.onChange('access', () => {
      if (isFailing) throw new Error('the disk is full');
    });
    await until(
      'the listener to fail',
      () => logger.text(),
      (text) => text.includes('the disk is full'),
    );
    const mark = await setMark(own.database);
    policyMark = mark;
    await until(
      'policy to reach the mark',
      () => position!.mark,
      (now) => now === mark,
    );
    expect(follower.mark()).toBeLessThan(mark);
    isFailing = false;
    await until(
      'the follower to reach the mark',
      () => follower.mark(),
      (now) => now === mark,
    );
  });

  test('does not call removed listeners', async () => {
    let calls = 0;
    const stop = follower.onChange('access', () => calls++);
    await until(
      'the listener to be called',
      () => calls,
      (now) => now === 1,
    );
    await stop();
    const statement = `UPDATE users SET role = CASE role WHEN 'admin' THEN 'viewer' ELSE 'admin' END WHERE id = 2`;
    expect(await reportedBy(statement)).toEqual(['access']);
    expect(calls).toBe(1);
  });
});
