import { beforeEach, describe, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { AuditLogPage } from '../../../shared/api/audit-api.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import type { RunningApi, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { SteeredClock } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { within } from '../../../test/support/parts/until.ts';
import { auditRoutes } from './audit-routes.ts';
import { recordAudit } from './audit-store.ts';
import { startAuditSweep, sweepAudit } from './audit-sweep.ts';

let suite: SuiteDatabase;
let api: RunningApi;
serveSuite(auditRoutes, (served) => ({ suite, api } = served));

/** Entries of the audit log; `minutes` is their age by the clock of the API. */
const ENTRIES = [
  { name: 'admin', action: 'created', subject: codedSubject('group', { name: 'Kids' }), minutes: 50 },
  { name: 'phone', action: 'changed', subject: codedSubject('group', { name: 'Kids' }), minutes: 40 },
  { name: 'admin', action: 'deleted', subject: codedSubject('group', { name: 'Guests' }), minutes: 30 },
  { name: 'system', action: 'updated', subject: codedSubject('blocklist', { name: '100%_\\' }), minutes: 20 },
  { name: 'admin', action: 'changed', subject: codedSubject('blocking'), minutes: 10 },
] as const;
const SUBJECTS = ['blocking', 'blocklist 100%_\\', 'group Guests', 'group Kids', 'group Kids'];

beforeEach(async () => {
  for (const [index, { name, action, subject, minutes }] of ENTRIES.entries()) {
    const actor = { name, address: name === 'system' ? null : '2001:db8::7' };
    await suite.database.transaction((tx) =>
      recordAudit(tx, {
        ...{ actor, subject, action: codedAction(action) },
        ...{ after: { index }, revision: index === 0 ? 9 : null },
      }),
    );
    const at = new Date(api.clock.nowMs() - minutes * 60_000);
    await suite.database.query(
      'UPDATE audit_log SET created_at = $1 WHERE id = (SELECT max(id) FROM audit_log)',
      [at],
    );
  }
});

const read = (query: string): Promise<TestAnswer> => api.send('GET', `/api/audit-log${query}`);
async function page(query: string): Promise<AuditLogPage> {
  return AuditLogPage.parse((await read(query)).body);
}
/** Indexes of the entries that a query string finds. */
async function found(query: string): Promise<unknown[]> {
  const { data, total } = await page(query);
  expect(total).toBe(data.length);
  return data.map(({ after }) => (after as { index: number }).index);
}

describe('GET /audit-log', () => {
  test('lists entries newest first, with all their fields', async () => {
    const { data, ...envelope } = await page('');
    expect(data.map(({ subject }) => subject)).toEqual(SUBJECTS);
    expect(envelope).toEqual({ total: 5, limit: 100, offset: 0, next_cursor: null });
    expect(data.at(-1)).toEqual({
      ...{ id: expect.any(Number), author: 'admin', ip_address: '2001:db8::7', action: 'created' },
      // Entry in the form of earlier releases.
      ...{ actor: 'admin', address: '2001:db8::7' },
      ...{ subject: 'group Kids', before: null, after: { index: 0 }, revision: 9, left_out: 0 },
      codes: { subject: codedSubject('group', { name: 'Kids' }), action: codedAction('created') },
      timestamp: new Date(api.clock.nowMs() - 50 * 60_000).toISOString(),
    });
    expect(data[1]).toMatchObject({ author: 'system', ip_address: null });
  });

  test.each([
    ['?author=admin', [4, 2, 0]],
    ['?actor=admin', [4, 2, 0]],
    ['?author=unknown', []],
    ['?subject=KIDS', [1, 0]],
    ['?subject=100%25_%5C', [3]],
    ['?subject=%25', [3]],
    ['?action=chang', [4, 1]],
    ['?action_code=changed', [4, 1]],
    ['?revision=9', [0]],
    ['?period=35m', [4, 3, 2]],
    ['?author=admin&period=35m&subject=g', [4, 2]],
  ])('%s returns the matching entries', async (query, indexes) => {
    expect(await found(query)).toEqual(indexes);
  });

  test('returns an entry of an earlier release with text only, without message codes', async () => {
    await suite.database.query(`UPDATE audit_log SET codes = NULL WHERE subject = 'blocking'`);
    const { data } = await page('?subject=blocking');
    expect(data).toMatchObject([{ subject: 'blocking', action: 'changed', codes: null }]);
  });

  test('includes entries at the time "from", and excludes entries at the time "to"', async () => {
    const at = (minutes: number): string => new Date(api.clock.nowMs() - minutes * 60_000).toISOString();
    expect(await found(`?from=${at(40)}&to=${at(20)}`)).toEqual([2, 1]);
  });

  test('returns pages by offset and by cursor without gaps, even while new entries arrive', async () => {
    const second = await page('?limit=2&offset=2');
    expect([second.data.length, second.total]).toEqual([2, 5]);
    let cursor = (await page('?limit=2')).next_cursor;
    const seen: string[] = [];
    while (cursor !== null) {
      await suite.database.transaction((tx) =>
        recordAudit(tx, {
          actor: { name: 'new', address: null },
          subject: codedSubject('blocking'),
          action: codedAction('changed'),
        }),
      );
      const next = await page(`?limit=2&cursor=${cursor}`);
      seen.push(...next.data.map(({ subject }) => subject));
      cursor = next.next_cursor!;
    }
    expect(seen).toEqual(['group Guests', 'group Kids', 'group Kids']);
  });

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?cursor=0', 'cursor'],
    ['?cursor=9999999999999999', 'cursor'],
    ['?period=1y', 'period'],
    ['?from=yesterday', 'from'],
    ['?period=1h&from=2026-01-01T00:00:00Z', 'period'],
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'to'],
    ['?author=a%00b', 'author'],
    ['?action_code=burned', 'action_code'],
    ['?who=me', 'who'],
  ])('%s is refused with 400, which names %s', async (query, path) => {
    const answer = await read(query);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });
});

describe('sweepAudit()', () => {
  test('deletes entries older than their retention, by the clock of the database', async () => {
    await suite.database.query(`UPDATE audit_log SET created_at = now() - id % 2 * interval '10 days'`);
    const before = (await page('')).total;
    const parts = { database: suite.database, clock: api.clock, logger: new MemoryLogger() };
    await sweepAudit({ ...parts, keptDays: () => 11 });
    expect((await page('')).total).toBe(before);
    await sweepAudit({ ...parts, keptDays: () => 9 });
    const left = (await page('')).total;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(before);
  });
});

describe('startAuditSweep()', () => {
  test('starts when the clock is trusted, and repeats until it is stopped', async () => {
    await suite.database.query(`UPDATE audit_log SET created_at = now() - interval '20 days'`);
    const clock = new SteeredClock();
    let asked = 0;
    const isAsked = Promise.withResolvers<undefined>();
    const keptDays = (): number => {
      asked += 1;
      isAsked.resolve(undefined);
      return 9;
    };
    const stop = startAuditSweep(
      { database: suite.database, clock, logger: new MemoryLogger(), keptDays },
      1,
    );
    await read('');
    expect(asked).toBe(0);
    clock.advanceSecs(7 * 3600);
    await within('the first sweep', isAsked.promise);
    await stop();
    expect((await page('')).total).toBe(0);
  });
});
