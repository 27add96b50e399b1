import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { DAY_MS } from './block-gatherer.ts';
import { ensurePartitions, listPartitions, partitionOf } from './partition-store.ts';

const TODAY = Date.UTC(2026, 6, 5) / DAY_MS;
let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

describe('partitionOf()', () => {
  test('partitionOf() names the day in UTC', () => {
    expect(partitionOf(TODAY)).toBe('query_blocks_20260705');
  });
});

describe('ensurePartitions()', () => {
  test('ensurePartitions() makes a day once, by however many nodes at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => ensurePartitions(own.database, [TODAY - 100, TODAY - 99])));
    expect(await listPartitions(own.database)).toEqual([TODAY - 100, TODAY - 99]);
  });

  test('ensurePartitions() does not wait for somebody who reads the log', async () => {
    await own.database.transaction(async (tx) => {
      await tx.query('SELECT count(*) FROM query_blocks');
      await ensurePartitions(own.database, [TODAY - 98]);
    });
    expect(await listPartitions(own.database)).toContain(TODAY - 98);
  });
});
