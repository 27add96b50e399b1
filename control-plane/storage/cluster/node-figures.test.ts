import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { SAMPLE_FIGURES } from '../../../test/support/parts/sample-figures.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { setMark } from './policy-position.ts';
import { beatNode, deleteGoneNode, listNodes, nodesBehind } from './node-figures.ts';
import { waitForNodes } from './wait-for-nodes.ts';
import type { NodeFigures } from './node-figures.ts';
import { claimNode, releaseNode } from './node-store.ts';

const FIGURES: NodeFigures = {
  ...{ address: null, state: 'ready', snapshotId: 9, policyRevision: 3, mark: 0, qps: 12.5 },
  others: SAMPLE_FIGURES,
};
const EDGE = { name: 'edge', version: '1', uuid: randomUUID(), run: randomUUID() };
const CORE = { name: 'core', version: '1', uuid: randomUUID(), run: randomUUID() };

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE nodes, revisions CASCADE');
  for (const node of [EDGE, CORE]) {
    await claimNode(own.database, node, true);
    await beatNode(own.database, node, FIGURES, null);
  }
});
afterAll(() => own.stop());

/** Changes the row of a node as if its last heartbeat were this many seconds ago. */
const silence = (name: string, secs: number): Promise<unknown> =>
  own.database.query('UPDATE nodes SET last_seen = now() - make_interval(secs => $2) WHERE name = $1', [
    name,
    secs,
  ]);

describe('beatNode()', () => {
  test('updates a row without changing an index', async () => {
    for (let beats = 0; beats < 200; beats++) await beatNode(own.database, EDGE, FIGURES, null);
    const counts = async (): Promise<{ updates: number; hot: number }> => {
      const { rows } = await own.database.query<{ updates: number; hot: number }>(
        `SELECT n_tup_upd::integer AS updates, n_tup_hot_upd::integer AS hot FROM pg_stat_user_tables
          WHERE relname = 'nodes'`,
      );
      return rows[0]!;
    };
    // Waits, because a session only reports its counts with a later statement.
    const counted = await until('200 updates to be counted', counts, ({ updates }) => updates >= 200);
    expect(counted.hot).toBe(counted.updates);
  });

  test('stores when a new revision became active, and returns null to a process that lost its node name', async () => {
    const appliedAt = async (): Promise<Date | null> => (await listNodes(own.database, null))[1]!.applied_at;
    const before = await appliedAt();
    await beatNode(own.database, EDGE, FIGURES, null);
    expect(await appliedAt()).toEqual(before);
    await beatNode(own.database, EDGE, { ...FIGURES, policyRevision: 4 }, null);
    expect((await appliedAt())!.getTime()).toBeGreaterThan(before!.getTime());
    expect(await beatNode(own.database, { ...EDGE, run: randomUUID() }, FIGURES, null)).toBeNull();
  });

  test('returns nodes that are silent, or that have used an outdated policy for 5 s', async () => {
    const inTrouble = async (): Promise<unknown> =>
      (await beatNode(own.database, EDGE, FIGURES, null))!.inTrouble;
    expect(await inTrouble()).toEqual([]);
    await own.database.query(
      `INSERT INTO revisions (id, author, summary) OVERRIDING SYSTEM VALUE VALUES (4, 'ada', 'x')`,
    );
    expect(await inTrouble()).toEqual([]);
    await own.database.query(`UPDATE revisions SET created_at = now() - interval '6 seconds'`);
    expect(await inTrouble()).toEqual([{ node: 'core', isSilent: false }]);
    await silence('core', 7);
    expect(await inTrouble()).toEqual([{ node: 'core', isSilent: true }]);
  });
});

describe('listNodes()', () => {
  test.each([
    [0, 'live'],
    [7, 'late'],
    [61, 'gone'],
    [-61, 'gone'],
  ])('reports a node whose heartbeat is %d s old as %s', async (secs, presence) => {
    await silence('core', secs);
    expect(await listNodes(own.database, null)).toMatchObject([
      { node: 'core', presence, state: 'ready', figures: SAMPLE_FIGURES },
      { node: 'edge', presence: 'live' },
    ]);
  });

  test('immediately reports as gone a node that has stopped', async () => {
    await releaseNode(own.database, CORE);
    expect(await listNodes(own.database, null)).toMatchObject([{ presence: 'gone' }, { presence: 'live' }]);
  });
});

describe('waitForNodes()', () => {
  const WITHIN_MS = 60_000;
  const ask = (): Promise<string[]> => waitForNodes(own.database, WITHIN_MS, new AbortController().signal);
  /** Reports a mark for a node. */
  const reach = (node: typeof EDGE, mark: number): Promise<unknown> =>
    beatNode(own.database, node, { ...FIGURES, mark }, null);

  /** The mark that a new wait sets, which is the one after `before`. */
  const markAfter = (before: number): Promise<number> => {
    const read = async (): Promise<number> => {
      const { rows } = await own.database.query<{ value: number }>(
        `SELECT value FROM meta WHERE key = 'position_mark'`,
      );
      return rows[0]!.value;
    };
    return until(`a mark after ${String(before)}`, read, (mark) => mark > before);
  };
  /**
   * Waits for the nodes while this node reaches the mark of the wait; with `isTimeOver`, the time limit of the wait has
   * passed.
   */
  const askWith = async (node: typeof EDGE, isTimeOver: boolean): Promise<string[]> => {
    const before = await setMark(own.database);
    const waiting = ask();
    await reach(node, await markAfter(before));
    const laterMs = performance.now() + WITHIN_MS;
    const clock = isTimeOver ? jest.spyOn(performance, 'now').mockReturnValue(laterMs) : undefined;
    try {
      return await within('the nodes', waiting);
    } finally {
      clock?.mockRestore();
    }
  };

  test('waits until every running node has reported the mark of the change', async () => {
    const before = await setMark(own.database);
    for (const node of [EDGE, CORE]) await reach(node, before);
    const waiting = ask();
    const mark = await markAfter(before);
    expect(await nodesBehind(own.database, mark)).toEqual(['core', 'edge']);
    await reach(EDGE, mark);
    expect(await nodesBehind(own.database, mark)).toEqual(['core']);
    await reach(CORE, mark);
    expect(await within('the nodes', waiting)).toEqual([]);
  });

  test('returns nodes that are late, and does not wait for nodes that are gone or have stopped', async () => {
    expect(await askWith(EDGE, true)).toEqual(['core']);
    await silence('core', 61);
    expect(await askWith(EDGE, false)).toEqual([]);
    await silence('core', 7);
    expect(await askWith(EDGE, true)).toEqual(['core']);
    await releaseNode(own.database, CORE);
    expect(await askWith(EDGE, false)).toEqual([]);
  });
});

describe('nodesBehind()', () => {
  test('returns a node that has not reached the mark, and a node that has never reported a mark', async () => {
    await own.database.query('UPDATE nodes SET policy_mark = NULL');
    await beatNode(own.database, EDGE, { ...FIGURES, mark: null }, null);
    const behind = (): Promise<string[]> => nodesBehind(own.database, 1);
    expect(await behind()).toEqual(['core', 'edge']);
    await beatNode(own.database, CORE, { ...FIGURES, mark: 1 }, null);
    expect(await behind()).toEqual(['edge']);
  });
});

describe('deleteGoneNode()', () => {
  test('deletes a node that is gone, until it returns', async () => {
    const removeNode = (name: string): Promise<string> =>
      own.database.transaction((tx) => deleteGoneNode(tx, name));
    expect([await removeNode('core'), await removeNode('nowhere')]).toEqual(['present', 'unknown']);
    await silence('core', 61);
    expect([await removeNode('core'), await removeNode('core')]).toEqual(['done', 'unknown']);
    expect(await listNodes(own.database, null)).toMatchObject([{ node: 'edge' }]);
    await claimNode(own.database, CORE, false);
    expect(await listNodes(own.database, null)).toMatchObject([{ node: 'core' }, { node: 'edge' }]);
  });
});
