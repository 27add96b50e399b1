import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { logRow } from '../../test/support/parts/log-row.ts';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../test/support/parts/test-database.ts';
import { BlockGatherer, toBatch } from '../query-log/store/block-gatherer.ts';
import { storeBlock } from '../query-log/store/block-store.ts';
import type { LogBatch } from '../query-log/store/log-batch.ts';
import { missingRows } from './missing-rows.ts';

const NODE = 7;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

/** A block of so many rows of a run. */
async function blockOf(gatherer: BlockGatherer, rows: number): Promise<LogBatch> {
  for (let i = 0; i < rows; i++) gatherer.append(logRow(), 'full');
  return toBatch(gatherer.runKey, gatherer.seal()!);
}

const missing = async (): Promise<number> => (await missingRows(own.database)).get(NODE) ?? 0;

describe('missingRows()', () => {
  test('counts what a process had numbered and not stored, once it is another one or its node is gone', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await own.database.query(`INSERT INTO nodes (id, name, run) VALUES ($1, 'attic', $2)`, [NODE, first]);
    const gatherer = new BlockGatherer(undefined, first);
    const [stored, spooled] = [await blockOf(gatherer, 10), await blockOf(gatherer, 5)];
    for (let i = 0; i < 3; i++) gatherer.append(logRow(), 'full');
    const how = { nodeId: NODE, durable: true };
    await storeBlock(own.database, stored, { ...how, nextSeq: gatherer.nextSeq });
    expect(await missing()).toBe(0);
    await own.database.query(`UPDATE nodes SET last_seen = now() - interval '2 minutes'`);
    expect(await missing()).toBe(8);
    await own.database.query('UPDATE nodes SET last_seen = now(), run = $1', [second]);
    expect(await missing()).toBe(8);
    // Its next process finds the spool.
    await storeBlock(own.database, spooled, how);
    expect(await missing()).toBe(3);
  });
});
