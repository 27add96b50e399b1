import { describe, expect, test } from '@jest/globals';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { BlockReader } from '../block/block-reader.ts';
import { BlockTally, isOfOneGroup } from './block-tally.ts';
import type { KeyTable } from './key-table.ts';

const RESOLVED: readonly number[] = [QueryStatus.ALLOWED, QueryStatus.CACHED, QueryStatus.STALE];
const pause = (): Promise<void> => Promise.resolve();

function countsOf(table: KeyTable): Record<string, number[]> {
  return Object.fromEntries(
    Array.from({ length: table.size }, (_, place) => [
      `${table.text(place)} ${table.tags[place]}`,
      [table.resolved[place]!, table.blocked[place]!, table.other[place]!],
    ]),
  );
}

function naive(rows: readonly QueryLogRow[]): {
  names: Record<string, number[]>;
  clients: Record<string, number[]>;
} {
  const names: Record<string, number[]> = {};
  const clients: Record<string, number[]> = {};
  for (const row of rows) {
    const { name, client: address, clientId, group } = inWords(row);
    const client = clientId === 0 ? address : `${address} ${clientId}`;
    const isBlocked = isBlockedStatus(row.status);
    (names[`${name} ${group}`] ??= [0, 0, 0])[isBlocked ? 1 : RESOLVED.includes(row.status) ? 0 : 2]!++;
    (clients[`${client} ${group}`] ??= [0, 0, 0])[isBlocked ? 1 : 0]!++;
  }
  return { names, clients };
}

describe('BlockTally', () => {
  test('addBlock() counts names and clients by group', async () => {
    const rows = fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { minLength: 1, maxLength: 3 }), fc.nat(3), async (blocks, groups) => {
        for (const block of blocks) for (const row of block) row.groupId = 1 + (row.groupId % (groups + 1));
        const tally = new BlockTally();
        for (const block of blocks) await tally.addBlock(new BlockReader(await blockOf(block)), pause);
        const all = blocks.flat();
        expect({ names: countsOf(tally.names), clients: countsOf(tally.clients) }).toEqual(naive(all));
        expect(tally.queries).toBe(all.length);
        expect(tally.groups).toEqual(new Set(all.map(({ groupId }) => groupId)));
      }),
      { numRuns: 40 },
    );
  });

  test('addBlock() pauses while it counts many names', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) =>
      logRow({ timestampMs: HOUR_MS, qname: wireName(`n${i}.example`) }),
    );
    let pauses = 0;
    await new BlockTally().addBlock(new BlockReader(await blockOf(rows)), async () => {
      pauses++;
    });
    expect(pauses).toBe(2);
  });
});

describe('isOfOneGroup()', () => {
  test('checks all clients of a block', async () => {
    const block = async (groups: readonly number[]): Promise<BlockReader> =>
      new BlockReader(await blockOf(groups.map((groupId) => logRow({ timestampMs: HOUR_MS, groupId }))));
    expect(isOfOneGroup(await block([3, 3]))).toBe(true);
    expect(isOfOneGroup(await block([3, 3, 4]))).toBe(false);
  });
});
