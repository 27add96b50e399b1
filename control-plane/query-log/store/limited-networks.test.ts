/**
 * One row represents all rate-limited queries of a network in a second; blocks contain the counts of the other queries.
 */
import { describe, expect, test } from '@jest/globals';
import { QueryStatus } from '../../../shared/query-log.ts';
import { HOUR_MS } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import {
  arbitraryFloodQuery,
  type FloodQuery,
  floodRow,
  PREFIXES,
  rowsExpected,
} from '../../../test/support/parts/flood-rows.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import type { BlockHead } from '../block/block-layout.ts';
import { BlockReader } from '../block/block-reader.ts';
import { blockFromBytes, type LogBlock } from '../block/log-block.ts';
import { mergeBlocks } from '../block/merge-blocks.ts';
import type { MinuteCounts } from '../block/minute-counts.ts';
import { repeatsByRow } from '../block/repeats.ts';
import { BlockGatherer, toBatch } from './block-gatherer.ts';
import type { NetworkPrefixes } from './limited-networks.ts';

/** Contents of several blocks, whose queries are counted in both ways. */
const parts = fc.array(fc.array(arbitraryFloodQuery(HOUR_MS, 3000), { minLength: 1, maxLength: 60 }), {
  minLength: 1,
  maxLength: 4,
});

async function gather(
  all: readonly (readonly FloodQuery[])[],
  prefixes?: NetworkPrefixes,
): Promise<LogBlock[]> {
  const gatherer = new BlockGatherer(prefixes && (() => prefixes));
  const blocks: LogBlock[] = [];
  for (const queries of all) {
    for (const query of queries) gatherer.append(floodRow(query), 'full');
    expect(gatherer.queryCount).toBe(queries.length);
    blocks.push(blockFromBytes((await toBatch(gatherer.runKey, gatherer.seal()!)).bytes));
  }
  return blocks;
}

/** Sums of the counts by minute, without fields that only exist for rows that represent several queries. */
function summed(blocks: readonly { readonly minutes: readonly MinuteCounts[] }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { minuteMs, counts, ...totals } of blocks.flatMap(({ minutes }) => minutes))
    for (const [key, value] of [...Object.entries(totals), ...Object.entries(counts)])
      sums[`${minuteMs} ${key}`] = (sums[`${minuteMs} ${key}`] ?? 0) + value;
  return Object.fromEntries(Object.entries(sums).filter(([key]) => !key.includes('repeats:')));
}

/** Number of queries of each client, counted from blocks. */
function clientsOf(heads: readonly BlockHead[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { clients, repeats } of heads) {
    const add = (client: number, queries: number): void => {
      const key = clients[client]!.slice(0, 2).join(' ');
      counts[key] = (counts[key] ?? 0) + queries;
    };
    clients.forEach(([, , rows], client) => add(client, rows));
    repeats?.clients.forEach((client, entry) => add(client, repeats.queries[entry]!));
  }
  return counts;
}

describe('BlockGatherer append()', () => {
  test('stores a row for the first limited query of a network in a second, and counts the following ones', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (all) => {
        const blocks = await gather(all, PREFIXES);
        const plain = await gather(all);
        expect(blocks.map(({ rowCount }) => rowCount)).toEqual(all.map(rowsExpected));
        expect(blocks.map(({ rowCount, repeats }) => rowCount + repeats)).toEqual(
          all.map(({ length }) => length),
        );
        expect(summed(blocks)).toEqual(summed(plain));
        const headsOf = (some: readonly LogBlock[]) => some.map((block) => new BlockReader(block).head);
        expect(clientsOf(headsOf(blocks))).toEqual(clientsOf(headsOf(plain)));
        // Sequence numbers count rows, not queries.
        const ends = blocks.map(({ firstSeq, rowCount }) => firstSeq + rowCount);
        expect(blocks.map(({ firstSeq }) => firstSeq)).toEqual([0, ...ends.slice(0, -1)]);
      }),
      { numRuns: 40 },
    );
  });

  test('stores how many limited queries each row represents, and keeps this number when blocks are merged', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async (all) => {
        const blocks = await gather(all, PREFIXES);
        const expected = blocks.flatMap((block) => {
          const { head } = new BlockReader(block);
          return [...(repeatsByRow(head) ?? new Uint32Array(head.rows))];
        });
        const merged = await mergeBlocks(blocks);
        const { head } = new BlockReader(merged);
        expect([...(repeatsByRow(head) ?? new Uint32Array(head.rows))]).toEqual(expected);
        expect(clientsOf([head])).toEqual(clientsOf(blocks.map((block) => new BlockReader(block).head)));
        expect(merged.repeats).toBe(expected.reduce((sum, repeats) => sum + repeats, 0));
        new BlockReader(merged).check();
      }),
      { numRuns: 20 },
    );
  });

  test('uses the prefix lengths of the current settings', () => {
    let prefixes = PREFIXES;
    const gatherer = new BlockGatherer(() => prefixes);
    const ask = (last: number): void => {
      const client = Uint8Array.of(192, 0, 2, last);
      gatherer.append(logRow({ client, status: QueryStatus.RATE_LIMITED }), 'full');
    };
    [1, 2, 3].forEach(ask);
    expect(gatherer.rowCount).toBe(1);
    prefixes = { ...PREFIXES, ipv4PrefixLength: 32 };
    [1, 2, 3, 1, 2, 3].forEach(ask);
    expect([gatherer.rowCount, gatherer.queryCount]).toEqual([4, 9]);
  });

  test('distinguishes networks by the whole address, even if only a part of it is stored', async () => {
    const gatherer = new BlockGatherer(() => ({ ...PREFIXES, ipv4PrefixLength: 32 }));
    for (const last of [1, 2, 1])
      gatherer.append(
        logRow({ client: Uint8Array.of(192, 0, 2, last), status: QueryStatus.RATE_LIMITED }),
        'anonymous_clients',
      );
    const { bytes } = await toBatch(gatherer.runKey, gatherer.seal()!);
    const { head } = new BlockReader(blockFromBytes(bytes));
    expect(head.clients).toEqual([['192.0.2.0', 1, 2, 0]]);
    expect(head.repeats?.total).toBe(1);
  });

  test('limits how much an attacker with many addresses adds to a block, and counts all queries', async () => {
    const gatherer = new BlockGatherer(() => PREFIXES);
    const client = new Uint8Array(16).fill(0x20, 0, 2);
    const queries = 65_535;
    const sealed = [];
    for (let i = 0; i < queries + 10; i++) {
      client[14] = i >>> 8;
      client[15] = i;
      sealed.push(gatherer.append(logRow({ client, status: QueryStatus.RATE_LIMITED }), 'full'));
    }
    const [full, ...others] = sealed.filter((block) => block !== null);
    expect(others).toEqual([]);
    expect(full!.block.head.clients.length).toBeLessThanOrEqual(257);
    expect(full!.block.head.repeats!.total).toBe(queries);
    expect(full!.minutes[0]).toMatchObject({ queries: queries + 1, rateLimited: queries + 1 });
    expect([gatherer.rowCount, gatherer.queryCount]).toEqual([1, 9]);
  });
});

describe('BlockReader of limited queries', () => {
  test('detects every changed bit of a block', async () => {
    const sample = fc.sample(arbitraryFloodQuery(HOUR_MS, 1000), { numRuns: 30, seed: 7 });
    const [block] = await gather([sample], PREFIXES);
    expect(block!.repeats).toBeGreaterThan(0);
    for (let at = 0; at < block!.head.length; at++) {
      block!.head[at]! ^= 1 << (at & 7);
      expect(() => new BlockReader(block!).check()).toThrow('read a block');
      block!.head[at]! ^= 1 << (at & 7);
    }
    for (const change of [{ repeats: 0 }, { repeats: block!.repeats + 1 }])
      expect(() => new BlockReader({ ...block!, ...change }).check()).toThrow('read a block');
    new BlockReader(block!).check();
  });
});
