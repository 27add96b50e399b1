import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { DatabaseUnavailable } from '../db/database-errors.ts';
import type { Queryable } from '../db/database.ts';
import { JobLeases, type Lease, LeaseLost, type LeaseParts } from './leases.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(() => asOwner(own.database, 'TRUNCATE leases'));
afterAll(() => own.stop());

/** The leases of a node. By default, it renews them so rarely that the test determines when they end. */
function nodeWith(given: Partial<LeaseParts> = {}) {
  const { renewMs = 60_000, node = randomUUID(), database = own.database } = given;
  const logger = new MemoryLogger();
  return { leases: new JobLeases({ database, logger, node, renewMs }), logger, node };
}

/** Begins a job that runs until `end` is called; resolves when the node has the lease of the job. */
async function begin(leases: JobLeases, job = 'fetch') {
  const held = Promise.withResolvers<Lease>();
  const ending = Promise.withResolvers<unknown>();
  const outcome = leases.hold(job, (lease) => {
    held.resolve(lease);
    return ending.promise;
  });
  return {
    lease: await within('the job to begin', held.promise),
    end: ending.resolve,
    fail: ending.reject,
    outcome,
  };
}

const idle = async (): Promise<void> => undefined;
const confirmed = (lease: Lease): Promise<void> => own.database.transaction((tx) => lease.confirm(tx));
const endAt = (when: string): Promise<unknown> =>
  own.database.query(`UPDATE leases SET until = clock_timestamp() + $1::interval`, [when]);
const tokens = async (): Promise<number[]> =>
  (await own.database.query<{ token: number }>('SELECT token FROM leases')).rows.map(({ token }) => token);

describe('JobLeases', () => {
  test('hold() gives a job to one of two nodes at a time, and another job to the second node', async () => {
    const [one, two] = [nodeWith(), nodeWith()];
    const first = await begin(one.leases);
    expect(await two.leases.hold('fetch', idle)).toBe(false);
    expect(await one.leases.hold('fetch', idle)).toBe(false);
    expect(await two.leases.hold('sweep', idle)).toBe(true);
    await confirmed(first.lease);
    first.end(undefined);
    expect([await first.outcome, await tokens()]).toEqual([true, []]);
    expect(await two.leases.hold('fetch', idle)).toBe(true);
  });

  test('hold() gives a job to exactly one of many concurrent callers', async () => {
    const nodes = Array.from({ length: 8 }, () => nodeWith());
    const ending = Promise.withResolvers<undefined>();
    let begun = 0;
    const outcomes = nodes.map(({ leases }) =>
      leases.hold('fetch', () => {
        begun++;
        return ending.promise;
      }),
    );
    let refused = 0;
    const others = outcomes.map((outcome) =>
      outcome.then((isDone) => {
        if (!isDone && ++refused === 7) ending.resolve(undefined);
      }),
    );
    await Promise.all(others);
    expect([begun, refused]).toEqual([1, 7]);
  });

  test('refuses the writes of a node that was suspended until another node took over, and notifies it', async () => {
    const [stopped, next] = [nodeWith(), nodeWith()];
    const first = await begin(stopped.leases);
    const [before] = await tokens();
    await endAt('-1 second');
    const second = await begin(next.leases);
    expect((await tokens())[0]).toBeGreaterThan(before!);
    const stored = own.database.transaction(async (tx) => {
      await tx.query(`INSERT INTO meta (key, value) VALUES ('fenced', 'true')`);
      await first.lease.confirm(tx);
    });
    await expect(stored).rejects.toThrow(LeaseLost);
    expect((await own.database.query(`SELECT 1 FROM meta WHERE key = 'fenced'`)).rows).toEqual([]);
    first.fail(new LeaseLost('as a job does that cannot store'));
    expect(await first.outcome).toBe(false);
    expect(stopped.logger.text()).toContain('another node has taken over a job');
    // The first node must not release the lease of the second one.
    await confirmed(second.lease);
    second.end(undefined);
    expect(await second.outcome).toBe(true);
  });

  test('refuses the writes of a node with an expired lease, even if no other node has taken over', async () => {
    const { lease, end, outcome } = await begin(nodeWith().leases);
    await endAt('-1 millisecond');
    await expect(confirmed(lease)).rejects.toThrow(LeaseLost);
    end(undefined);
    await outcome;
  });

  test('renews a lease, and notifies a node that has lost it', async () => {
    const [one, two] = [nodeWith({ renewMs: 5 }), nodeWith()];
    const first = await begin(one.leases);
    await endAt('-1 second');
    const fault = (): Promise<unknown> => confirmed(first.lease).catch((error: unknown) => error);
    await until('the lease to be renewed', fault, (error) => error === undefined);
    await own.database.query('UPDATE leases SET token = nextval($1)', ['lease_tokens']);
    await until('the holder to be notified', () => first.lease.signal.aborted);
    expect(first.lease.signal.reason).toBeInstanceOf(LeaseLost);
    first.fail(new Error('as work does that was aborted'));
    expect(await first.outcome).toBe(false);
    expect(await two.leases.hold('fetch', idle)).toBe(false);
  });

  test.each(['16 seconds', '1 day', '-1 day'])(
    'frees a job if a jump of the clock makes its lease end in %s',
    async (when) => {
      const first = await begin(nodeWith().leases);
      await endAt(when);
      expect(await nodeWith().leases.hold('fetch', idle)).toBe(true);
      await expect(confirmed(first.lease)).rejects.toThrow(LeaseLost);
      first.end(undefined);
      await first.outcome;
    },
  );

  test('lets no node take over while the transaction that ends a job is open', async () => {
    const one = nodeWith();
    const first = await begin(one.leases);
    const order: string[] = [];
    let taken: Promise<unknown> = Promise.resolve();
    await own.database.transaction(async (tx) => {
      await first.lease.confirm(tx);
      // A process with the same data directory does not wait for the end of the lease.
      taken = nodeWith(one).leases.hold('fetch', async () => order.push('taken'));
      await until('the other run to wait for the lease', isTaking);
      order.push('committed');
    });
    await within('the other run to take the lease', taken);
    expect(order).toEqual(['committed', 'taken']);
    first.end(undefined);
    await first.outcome;
  });

  test('lets a start on the same data directory immediately take over the jobs of a killed process', async () => {
    const killed = nodeWith();
    const first = await begin(killed.leases);
    expect(await nodeWith({ node: killed.node }).leases.hold('fetch', idle)).toBe(true);
    await expect(confirmed(first.lease)).rejects.toThrow(LeaseLost);
    first.end(undefined);
    await first.outcome;
  });

  test('returns the error of a job to the caller, and releases the job', async () => {
    const { leases } = nodeWith();
    await expect(leases.hold('fetch', () => Promise.reject(new Error('404')))).rejects.toThrow('404');
    expect([await leases.hold('fetch', idle), await tokens()]).toEqual([true, []]);
  });

  test('continues a job while the database is lost, although the lease expires', async () => {
    let isLost = false;
    const database: Queryable = {
      query: (text, values) =>
        isLost ? Promise.reject(new DatabaseUnavailable('lost')) : own.database.query(text, values),
    };
    const { leases, logger } = nodeWith({ renewMs: 5, database });
    const first = await begin(leases);
    isLost = true;
    await until(
      'a renewal to fail',
      () => logger.text(),
      (text) => text.includes('could not renew a lease'),
    );
    expect(first.lease.signal.aborted).toBe(false);
    first.end(undefined);
    expect([await first.outcome, await tokens()]).toEqual([true, [expect.any(Number)]]);
    await expect(leases.hold('fetch', idle)).rejects.toThrow(DatabaseUnavailable);
    await endAt('-1 second');
    isLost = false;
    expect(await nodeWith().leases.hold('fetch', idle)).toBe(true);
  });
});

/** Whether a node waits for the lock of a lease. */
async function isTaking(): Promise<boolean> {
  const { rows } = await own.database.query(
    `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO leases%'`,
  );
  return rows.length > 0;
}
