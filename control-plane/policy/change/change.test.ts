import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { within } from '../../../test/support/parts/until.ts';
import { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { DatabaseBusy, DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { startDatabase } from '../../storage/db/database.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { recordSource, writeContent } from '../../lists/sources/source-records.ts';
import { listSources, readSource } from '../../lists/sources/source-store.ts';
import { PolicyChanges } from './change.ts';
import type { Changed } from './change.ts';
import { listRevisions, neededCopies, newestRevision } from './revision-store.ts';
import { rollBack } from '../../transfer/revisions/rollback.ts';

const SOMEBODY = { name: 'somebody', address: '192.0.2.7' };
let own: TestDatabase;
let url: string;
let database: Database;
async function connect(waitMs = 20_000): Promise<Database> {
  const connected = startDatabase({ urls: url, lock: own.lock, logger: new MemoryLogger(), waitMs });
  await connected.whenUp();
  return connected;
}
let changes: PolicyChanges;
/**
 * Replacements for the functions that apply policy and that return the number of threads that did not acknowledge it.
 */
let apply: () => Promise<void>;
let behind: number;
beforeAll(async () => {
  own = await startTestDatabase();
  await asOwner(own.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
  const { rows } = await asOwner<{ dir: string }>(
    own.database,
    `SELECT setting AS dir FROM pg_settings WHERE name = 'unix_socket_directories'`,
  );
  url = `postgres://tester:secret@localhost/postgres?host=${encodeURIComponent(rows[0]!.dir)}`;
  database = await connect();
  changes = new PolicyChanges(database, { apply: () => apply(), threadsBehind: () => behind });
});
beforeEach(() => {
  apply = () => Promise.resolve();
  behind = 0;
});
afterAll(async () => {
  await database.close();
  await own.stop();
});

const UNNAMED = { subject: codedSubject('policy'), action: codedAction('changed') };
let serial = 0;
const makeGroup = async (tx: Queryable): Promise<Changed<string>> => {
  const number = String(serial++);
  const name = `group ${number}`;
  await tx.query('INSERT INTO groups (name) VALUES ($1)', [name]);
  const subject = codedSubject('group', { name: number });
  return { result: name, summary: { subject, action: codedAction('created') } };
};
const change = (): Promise<string> => changes.change(SOMEBODY, makeGroup);
const groupNames = async (): Promise<string[]> =>
  (await database.query<{ name: string }>('SELECT name FROM groups')).rows.map(({ name }) => name);

describe('PolicyChanges', () => {
  test('change() stores rows and a revision, then activates the rows, then resolves', async () => {
    const seen: unknown[] = [];
    apply = async () => {
      const { summary } = await newestRevision(own.database);
      seen.push(summary, (await groupNames()).at(-1));
    };
    const name = await change();
    expect(seen).toEqual([`${name}: created`, name]);
  });

  test('change() writes one audit entry with each changed row before and after, without secrets', async () => {
    const entry = async (): Promise<unknown> =>
      (await own.database.query('SELECT * FROM audit_log ORDER BY id DESC LIMIT 1')).rows[0];
    const name = await change();
    const { id } = await newestRevision(database);
    const { rows } = await own.database.query<{ id: number }>('SELECT id FROM groups WHERE name = $1', [
      name,
    ]);
    const groupKey = `groups ${rows[0]!.id}`;
    expect(await entry()).toMatchObject({
      ...{ actor: 'somebody', address: '192.0.2.7', action: 'created', subject: name, revision: id },
      ...{ before: null, after: { [groupKey]: { name, enabled: true } }, left_out: 0 },
    });
    await changes.change(SOMEBODY, async (tx) => {
      await tx.query('DELETE FROM groups WHERE name = $1', [name]);
      await tx.query(
        `INSERT INTO list_sources (id, name, url) VALUES (800, 'a', 'http://me:hunter2@l.example/')`,
      );
      await tx.query('INSERT INTO list_source_groups VALUES (800, 1)');
      const subject = codedSubject('group', { name: 'a: b' });
      return { result: undefined, summary: { subject, action: codedAction('deleted') } };
    });
    const second = await entry();
    expect(second).toMatchObject({
      ...{ action: 'deleted', subject: 'group a: b', before: { [groupKey]: { name } } },
      after: { 'list_sources 800': { url: 'http://***@l.example/' }, 'list_source_groups 800 1': {} },
      codes: {
        subject: { code: 'group', params: { name: 'a: b' } },
        action: { code: 'deleted', params: {} },
      },
    });
    await changes.change(SOMEBODY, async (tx) => {
      await tx.query('UPDATE list_sources SET url = url, rules = 7 WHERE id = 800');
      return { result: undefined, summary: UNNAMED };
    });
    expect(await entry()).toEqual(second);
    await own.database.query('DELETE FROM list_sources WHERE id = 800');
  });

  test('change() stores the first thousand changed rows in the audit entry, and how many more there are', async () => {
    await changes.change(SOMEBODY, async (tx) => {
      await tx.query(
        `INSERT INTO managed_domains (name, domain, action)
           SELECT 'n', n || '.example', 'deny' FROM generate_series(1, 1200) n`,
      );
      await tx.query(`INSERT INTO regex_filters (name, pattern, action) VALUES ('n', 'a', 'deny')`);
      return { result: undefined, summary: UNNAMED };
    });
    const { rows } = await own.database.query<{ after: object; left_out: number }>(
      'SELECT after, left_out FROM audit_log ORDER BY id DESC LIMIT 1',
    );
    expect([Object.keys(rows[0]!.after).length, rows[0]!.left_out]).toEqual([1000, 201]);
    await asOwner(own.database, 'TRUNCATE managed_domains, regex_filters');
  });

  test('change() reports the number of the stored revision if the change cannot be activated', async () => {
    const cause = new Error('no room');
    apply = () => Promise.reject(cause);
    const refused: unknown = await change().catch((error: unknown) => error);
    const { id, summary } = await newestRevision(database);
    expect(refused).toMatchObject({ status: 503, code: 'not_in_force', stored: { revision: id }, cause });
    expect(refused).toMatchObject({ headers: {} });
    expect((await groupNames()).map((name) => `${name}: created`)).toContain(summary);
  });

  test('change() reports that DNS threads did not apply the change in time', async () => {
    behind = 2;
    const refused: unknown = await change().catch((error: unknown) => error);
    const { id } = await newestRevision(database);
    expect(refused).toMatchObject({ code: 'not_in_force', stored: { revision: id } });
    expect(refused).toMatchObject({ message: expect.stringContaining('2 DNS threads') });
  });

  test('change() returns no revision if no row changes', async () => {
    const before = await newestRevision(database);
    behind = 1;
    const nothing = (): Promise<Changed<number>> => Promise.resolve({ result: 1, summary: null });
    const refused = changes.change(SOMEBODY, nothing);
    await expect(refused).rejects.toMatchObject({ stored: { revision: null } });
    expect(await newestRevision(database)).toEqual(before);
  });

  test('change() creates a revision for each of two concurrent changes, and returns to each caller its own revision', async () => {
    const applied: Promise<string[]>[] = [];
    apply = async () => {
      applied.push(groupNames());
      if (applied.length === 1) throw new Error('once');
    };
    const outcomes = await Promise.allSettled([change(), change()]);
    const revisions = (await listRevisions(database)).slice(0, 2);
    expect(new Set(revisions.map(({ summary }) => summary)).size).toBe(2);
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as { stored: { revision: number } }] : [],
    );
    expect(failed).toHaveLength(1);
    expect(revisions.map(({ id }) => id)).toContain(failed[0]!.stored.revision);
    // The last call sees both changes.
    const [, last] = await Promise.all(applied);
    expect(revisions.map(({ summary }) => last!.includes(summary.split(':')[0]!))).toEqual([true, true]);
  });

  test('change() stores and activates nothing if the database fails during the change', async () => {
    const before = [await groupNames(), await newestRevision(database)];
    const theirs = await connect();
    const apply = jest.fn(() => Promise.resolve());
    const cutOff = new PolicyChanges(theirs, { apply, threadsBehind: () => 0 }).change(
      SOMEBODY,
      async (tx) => {
        const made = await makeGroup(tx);
        await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
        return made;
      },
    );
    await expect(cutOff).rejects.toBeInstanceOf(DatabaseUnavailable);
    await theirs.close();
    expect([await groupNames(), await newestRevision(database)]).toEqual(before);
    expect(apply).not.toHaveBeenCalled();
  });

  test('change() reports that the change is stored if the database fails before the change is active', async () => {
    const theirs = await connect();
    const apply = async (): Promise<void> => {
      await theirs.query('SELECT pg_terminate_backend(pg_backend_pid())');
    };
    const refused = new PolicyChanges(theirs, { apply, threadsBehind: () => 0 }).change(SOMEBODY, makeGroup);
    const thrown: unknown = await refused.catch((error: unknown) => error);
    await theirs.close();
    const { id: revision } = await newestRevision(database);
    expect(thrown).toMatchObject({ code: 'not_in_force', stored: { revision } });
    expect(thrown).toMatchObject({ cause: expect.any(DatabaseUnavailable) });
  });

  test('change() waits for a change on another node, lets other statements run, and reports busy after a timeout', async () => {
    const states: string[] = [];
    const hasty = await connect(1500);
    hasty.onStatus(({ state }) => states.push(state));
    const ours = new PolicyChanges(hasty, { apply: () => apply(), threadsBehind: () => 0 });
    const elsewhere = Promise.withResolvers<undefined>();
    const isHeld = Promise.withResolvers<undefined>();
    const theirs = new PolicyChanges(own.database, { apply: () => apply(), threadsBehind: () => 0 });
    const other = theirs.change(SOMEBODY, async () => {
      isHeld.resolve(undefined);
      await elsewhere.promise;
      return { result: undefined, summary: null };
    });
    await within('the change elsewhere to begin', isHeld.promise);
    const waiting = Array.from({ length: 12 }, () =>
      ours.change(SOMEBODY, makeGroup).catch((error: unknown) => error),
    );
    // A query gets its result while all changes wait.
    expect((await hasty.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    for (const outcome of await Promise.all(waiting)) expect(outcome).toBeInstanceOf(DatabaseBusy);
    elsewhere.resolve(undefined);
    await other;
    const made = await ours.change(SOMEBODY, makeGroup);
    expect(await groupNames()).toContain(made);
    expect(states).toEqual([]);
    await hasty.close();
  });

  test('record() deletes no revisions of users, however often Weir updates lists', async () => {
    await asOwner(own.database, 'TRUNCATE revisions');
    await own.database.query(
      `INSERT INTO list_sources (id, name, url, content_key) VALUES (900, 'ads', 'http://l.example/', 'first')`,
    );
    for (let index = 0; index < 20; index++) await change();
    for (let index = 0; index < 30; index++) {
      const source = await readSource(own.database, 900);
      const facts = { contentKey: `copy ${index}` };
      await changes.record((tx) => writeContent(tx, source, facts, codedAction('updated')));
    }
    const kept = (await listRevisions(database)).filter(({ can_rollback: can }) => can);
    expect(kept.filter(({ is_own: isOwn }) => !isOwn)).toHaveLength(20);
    expect(kept.filter(({ is_own: isOwn }) => isOwn)).toHaveLength(30);
    // Copies that these changes have replaced are not needed any more.
    expect([...(await neededCopies(database))]).toEqual(['copy 29']);
  });

  test('record() writes no revision for a list whose content is unchanged', async () => {
    const source = await readSource(own.database, 900);
    const before = await newestRevision(database);
    const facts = { contentKey: source.contentKey!, status: 'ok', lastChangedAt: new Date() } as const;
    await changes.record((tx) => writeContent(tx, source, facts, codedAction('updated')));
    expect(await newestRevision(database)).toEqual(before);
  });
});

describe('rollBack()', () => {
  test('and updates of list state take their database locks in the same order', async () => {
    await asOwner(own.database, 'TRUNCATE revisions');
    await own.database.query('DELETE FROM list_sources');
    await own.database.query(
      `INSERT INTO list_sources (name, url, content_key)
         SELECT 'list ' || n, 'http://l.example/' || n, 'copy' FROM generate_series(1, 40) n`,
    );
    await own.database.query('INSERT INTO list_source_groups SELECT id, 1 FROM list_sources');
    await change();
    const parts = {
      database,
      policy: changes,
      clients: new ClientDirectory(),
      activateRestored: () => Promise.resolve(),
    };
    const first = await newestRevision(database);
    await change();
    const second = await newestRevision(database);
    const sources = await listSources(database);
    let isOver = false;
    const found = sources.slice(0, 4).map(async (source) => {
      for (let index = 0; !isOver; index++)
        await recordSource(own.database, source, { status: index % 2 === 0 ? 'updating' : 'ok' });
    });
    for (let round = 0; round < 20; round++) {
      for (const { id } of [first, second]) await rollBack(parts, id, SOMEBODY);
      await own.database.query('UPDATE list_sources SET comment = $1', [String(round)]);
    }
    isOver = true;
    await Promise.all(found);
    expect(own.logger.text()).not.toContain('deadlock');
  });
});
