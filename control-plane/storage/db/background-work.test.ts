import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { nicerBy } from '../../../test/support/parts/niceness.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { BackgroundWork } from './background-work.ts';
import type { BackgroundLimits } from './background-work.ts';
import { DatabaseBusy, DatabaseUnavailable } from './database-errors.ts';
import { parseDatabaseUrls } from './database-target.ts';
import type { DatabaseTarget } from './database-target.ts';
import type { Queryable } from './database.ts';
import { NICENESS } from './postgres/process-priority.ts';

let db: TestDatabase;
let target: DatabaseTarget;
const opened: BackgroundWork[] = [];
beforeAll(async () => {
  db = await startTestDatabase();
  await asOwner(
    db.database,
    `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'; CREATE TABLE things (n integer)`,
  );
  const { rows } = await asOwner<{ dir: string }>(
    db.database,
    `SELECT setting AS dir FROM pg_settings WHERE name = 'unix_socket_directories'`,
  );
  const url = `postgres://tester:secret@localhost/postgres?host=${encodeURIComponent(rows[0]!.dir)}`;
  target = { ...parseDatabaseUrls(url)[0]!, isOurs: true };
});
afterEach(async () => {
  for (const work of opened.splice(0)) await work.end();
});
afterAll(() => db.stop());

function open(limits: Partial<BackgroundLimits> = {}): BackgroundWork {
  const work = new BackgroundWork(target, db.logger, { waitMs: 10_000, runMs: 10_000, ...limits });
  opened.push(work);
  return work;
}

const sleepFor = (secs: number) => (tx: Queryable) => tx.query('SELECT pg_sleep($1)', [secs]);

/** Field `nice` of proc(5), after the name in parentheses, which may contain spaces. */
function niceOf(pid: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
}

describe('BackgroundWork', () => {
  test('read() sees a consistent state in all its statements, despite concurrent writes', async () => {
    const count = async (tx: Queryable): Promise<number> =>
      (await tx.query<{ n: number }>('SELECT count(*) AS n FROM things')).rows[0]!.n;
    const [before, after] = await open().read(async (tx) => {
      const first = await count(tx);
      await db.database.query('INSERT INTO things VALUES (1)');
      return [first, await count(tx)];
    });
    expect(after).toBe(before);
    expect(await open().read(count)).toBe(before + 1);
  });

  test('read() cannot write, and its connection is reused afterwards', async () => {
    const work = open();
    await expect(work.read((tx) => tx.query('DELETE FROM things'))).rejects.toThrow(/read-only transaction/);
    expect((await work.read((tx) => tx.query('SELECT 1 AS n'))).rows).toEqual([{ n: 1 }]);
  });

  test('change() writes everything or nothing, and its connection is reused afterwards', async () => {
    const work = open();
    const numbers = async (): Promise<unknown> =>
      (await work.read((tx) => tx.query('SELECT n FROM things WHERE n > 100 ORDER BY n'))).rows;
    await work.change((client) => client.query('INSERT INTO things VALUES (101)'));
    const failing = work.change(async (client) => {
      await client.query('INSERT INTO things VALUES (102)');
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    expect(await numbers()).toEqual([{ n: 101 }]);
  });

  test('cancels a statement that takes too long, and reports that the database is busy', async () => {
    // A limit within which the next statement can also finish.
    const work = open({ runMs: 2000 });
    const late = work.read(sleepFor(30));
    await expect(late).rejects.toBeInstanceOf(DatabaseBusy);
    await expect(late).rejects.toThrow('no answer from the query log within 2 s');
    expect((await work.read((tx) => tx.query('SELECT 1 AS n'))).rows).toEqual([{ n: 1 }]);
    expect(db.database.status().state).toBe('up');
  });

  test('runs one operation at a time, and rejects an operation that waits too long', async () => {
    const work = open({ waitMs: 2000 });
    await work.read(sleepFor(0)); // Opens the connection first.
    const order: string[] = [];
    const [firstMayEnd, secondMayEnd] = [
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<undefined>(),
    ];
    const first = work.read(() => firstMayEnd.promise).then(() => order.push('first'));
    const second = work.read(() => secondMayEnd.promise).then(() => order.push('second'));
    firstMayEnd.resolve(undefined);
    await first;
    const third = work.read(sleepFor(0));
    await expect(third).rejects.toBeInstanceOf(DatabaseBusy);
    expect(order).toEqual(['first']);
    secondMayEnd.resolve(undefined);
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  test('gives its process of the embedded server a lower priority than the processes that write the log', async () => {
    const pidOf = async (tx: Queryable): Promise<number> =>
      (await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
    await open().read(async (tx) => {
      const pid = await pidOf(tx);
      expect(niceOf(pid)).toBe(nicerBy(NICENESS.behindLog));
      const autogroup = `/proc/${String(pid)}/autogroup`;
      // Only checked for root, because the kernel allows ordinary users only one such change per tenth of a second.
      if (existsSync(autogroup) && process.getuid?.() === 0)
        expect(readFileSync(autogroup, 'utf8').trimEnd()).toMatch(
          new RegExp(` nice ${String(NICENESS.behindLog)}$`),
        );
    });
    expect(niceOf(await pidOf(db.database))).toBe(nicerBy(NICENESS.behindDns));
  });

  test('reports as unavailable a server that has stopped', async () => {
    const nowhere = new BackgroundWork(
      parseDatabaseUrls('postgres://tester@127.0.0.1:1/postgres')[0]!,
      db.logger,
    );
    await expect(nowhere.read(sleepFor(0))).rejects.toBeInstanceOf(DatabaseUnavailable);
  });
});
