import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../test/support/parts/test-database.ts';
import { DatabaseBusy } from '../db/database-errors.ts';
import { startDatabase } from '../db/database.ts';
import type { Database } from '../db/database.ts';
import { recordContent, recordSource } from '../lists/sources/source-records.ts';
import { listSources, readSource } from '../lists/sources/source-store.ts';
import { changePolicy, WEIR } from './change.ts';
import { listRevisions, neededCopies, newestRevision } from './revision-store.ts';
import { rollBack } from '../revisions/rollback.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query(`CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
  const { rows } = await own.database.query<{ dir: string }>(
    `SELECT setting AS dir FROM pg_settings WHERE name = 'unix_socket_directories'`,
  );
  database = startDatabase({
    urls: `postgres://tester:secret@localhost/postgres?host=${encodeURIComponent(rows[0]!.dir)}`,
    lock: own.lock,
    logger: new MemoryLogger(),
    waitMs: 500,
  });
  await database.whenUp();
});
afterAll(async () => {
  await database.close();
  await own.stop();
});

let serial = 0;
const change = (): Promise<number> =>
  changePolicy(database, 'somebody', async (tx) => {
    await tx.query('INSERT INTO groups (name) VALUES ($1)', [`group ${serial++}`]);
    return { result: 1, summary: 'group: created' };
  });

describe('changePolicy()', () => {
  test('changePolicy() waits for a change elsewhere beside everybody else, and says busy after a while', async () => {
    const states: string[] = [];
    const stop = database.onStatus(({ state }) => states.push(state));
    const elsewhere = Promise.withResolvers<undefined>();
    const isHeld = Promise.withResolvers<undefined>();
    const other = changePolicy(own.database, 'another node', async () => {
      isHeld.resolve(undefined);
      await elsewhere.promise;
      return { result: undefined, summary: null };
    });
    await isHeld.promise;
    const changes = Array.from({ length: 12 }, () => change().catch((error: unknown) => error));
    // Answered while all of them wait.
    expect((await database.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    for (const outcome of await Promise.all(changes)) expect(outcome).toBeInstanceOf(DatabaseBusy);
    elsewhere.resolve(undefined);
    await other;
    expect(await change()).toBe(1);
    expect(states).toEqual([]);
    stop();
  });

  test('changePolicy() keeps the revisions of people however often Weir itself takes over lists', async () => {
    await own.database.query('TRUNCATE revisions');
    await own.database.query(
      `INSERT INTO list_sources (id, name, url, content_key) VALUES (900, 'ads', 'http://l.example/', 'first')`,
    );
    for (let index = 0; index < 20; index++) await change();
    const source = await readSource(own.database, 900);
    for (let index = 0; index < 30; index++) {
      const facts = { contentKey: `copy ${index}` };
      await recordContent(database, source, facts, { author: WEIR, what: 'updated' });
    }
    const kept = (await listRevisions(database)).filter(({ can_rollback: can }) => can);
    expect(kept.filter(({ author }) => author === 'somebody')).toHaveLength(20);
    expect(kept.filter(({ author }) => author === 'system')).toHaveLength(10);
    // The copies that they need stay on disk, and no others.
    expect([...(await neededCopies(database))].sort()).toEqual(
      ['first', ...Array.from({ length: 10 }, (_, index) => `copy ${20 + index}`)].sort(),
    );
    await change();
    expect((await listRevisions(database)).filter(({ can_rollback: can }) => can)).toHaveLength(30);
  });

  test('changePolicy() writes no revision of a list whose content is what it was', async () => {
    const source = await readSource(own.database, 900);
    const before = await newestRevision(database);
    const facts = { contentKey: source.contentKey!, status: 'ok', lastChangedAt: new Date() } as const;
    await recordContent(database, source, facts, { author: WEIR, what: 'updated' });
    expect(await newestRevision(database)).toEqual(before);
  });
});

describe('rollBack()', () => {
  test('rollBack() and what is found out about lists take their locks in one order', async () => {
    await own.database.query('TRUNCATE revisions');
    await own.database.query('DELETE FROM list_sources');
    await own.database.query(
      `INSERT INTO list_sources (name, url, content_key)
         SELECT 'list ' || n, 'http://l.example/' || n, 'copy' FROM generate_series(1, 40) n`,
    );
    await own.database.query('INSERT INTO list_source_groups SELECT id, 1 FROM list_sources');
    await change();
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
      for (const { id } of [first, second]) await rollBack(database, () => Promise.resolve(), id, 'somebody');
      await own.database.query('UPDATE list_sources SET comment = $1', [String(round)]);
    }
    isOver = true;
    await Promise.all(found);
    expect(own.logger.text()).not.toContain('deadlock');
  });
});
