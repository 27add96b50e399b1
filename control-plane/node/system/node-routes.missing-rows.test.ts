import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { BlockGatherer, toBatch } from '../../query-log/store/block-gatherer.ts';
import { storeBlock } from '../../query-log/store/block-store.ts';
import type { LogBatch } from '../../query-log/store/log-batch.ts';
import { missingRows } from './node-routes.ts';
import { claimNode, nodeIdOf, noteKilled, releaseNode } from '../../storage/cluster/node-store.ts';

const NODE = 7;

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

/** A block of the run of `gatherer` with this number of rows. */
async function blockOf(gatherer: BlockGatherer, rows: number): Promise<LogBatch> {
  for (let i = 0; i < rows; i++) gatherer.append(logRow(), 'full');
  return toBatch(gatherer.runKey, gatherer.seal()!);
}

/** Number of missing rows of the node, as text if there may be more. */
async function missing(): Promise<number | string> {
  const { rows, isMinimum } = (await missingRows(own.database)).get(NODE) ?? { rows: 0, isMinimum: false };
  return isMinimum ? `at least ${rows}` : rows;
}

describe('missingRows()', () => {
  test('counts rows that a process had numbered but not stored when it was replaced or its node disappeared', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await own.database.query(`INSERT INTO nodes (id, name, run) VALUES ($1, 'attic', $2)`, [NODE, first]);
    const gatherer = new BlockGatherer(undefined, first);
    const [stored, spooled] = [await blockOf(gatherer, 10), await blockOf(gatherer, 5)];
    for (let i = 0; i < 3; i++) gatherer.append(logRow(), 'full');
    const how = { nodeId: NODE, durable: true };
    await storeBlock(own.database, stored, { ...how, nextSeq: gatherer.nextSeq });
    expect(await missing()).toBe(0);
    await own.database.query(`UPDATE nodes SET last_seen = now() - interval '2 minutes'`);
    expect(await missing()).toBe('at least 8');
    await own.database.query('UPDATE nodes SET last_seen = now(), run = $1', [second]);
    expect(await missing()).toBe(8);
    // The node's next process finds the spool.
    await storeBlock(own.database, spooled, how);
    expect(await missing()).toBe(3);
  });

  test('reports that rows may be missing after a process that was killed', async () => {
    const identity = { name: 'attic', version: '1', uuid: randomUUID() };
    const [killed, next, last] = [randomUUID(), randomUUID(), randomUUID()];
    await own.database.query('DELETE FROM nodes');
    await claimNode(own.database, { ...identity, run: killed }, true);
    const id = nodeIdOf('attic');
    const gatherer = new BlockGatherer(undefined, killed);
    const block = await blockOf(gatherer, 10);
    await storeBlock(own.database, block, { nodeId: id, durable: true, nextSeq: gatherer.nextSeq });
    const start = async (run: string): Promise<void> => {
      await noteKilled(own.database, { ...identity, run });
      await claimNode(own.database, { ...identity, run }, true);
    };
    await releaseNode(own.database, { ...identity, run: killed });
    await start(next);
    expect((await missingRows(own.database)).get(id)).toEqual({ rows: 0, isMinimum: false });
    await start(last);
    expect((await missingRows(own.database)).get(id)).toEqual({ rows: 0, isMinimum: true });
  });
});
