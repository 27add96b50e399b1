/**
 * One upstream of two at fault, for each strategy: no question fails while the other one is good. Prints a
 * table of latencies when all have been asked.
 */
import { afterAll, describe, expect, test } from '@jest/globals';
import type { FaultRow } from './upstream-faults.ts';
import { STRATEGIES, faultTable, measureFaults } from './upstream-faults.ts';

const rows: FaultRow[] = [];

describe('one upstream of two at fault', () => {
  afterAll(() => {
    process.stdout.write(`${faultTable(rows)}\n`);
  });

  test.each(STRATEGIES)('%s: no question fails', async (strategy) => {
    const measured = await measureFaults(strategy);
    rows.push(...measured);
    expect(measured.filter(({ failures }) => failures > 0)).toEqual([]);
  });
});
