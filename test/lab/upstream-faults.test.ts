/**
 * One faulty upstream of two, for each strategy: no question fails while the other upstream works. Prints a table of
 * latencies at the end.
 */
import { afterAll, describe, expect, test } from '@jest/globals';
import type { FaultRow } from './upstream-faults.ts';
import { STRATEGIES, faultTable, measureFaults } from './upstream-faults.ts';

const rows: FaultRow[] = [];

describe('one faulty upstream of two', () => {
  afterAll(() => {
    process.stdout.write(`${faultTable(rows)}\n`);
  });

  test.each(STRATEGIES)('with strategy %s: no query fails', async (strategy) => {
    const measured = await measureFaults(strategy);
    rows.push(...measured);
    expect(measured.filter(({ failures }) => failures > 0)).toEqual([]);
  });
});
