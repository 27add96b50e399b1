/** Counts by name and client from lists and blocks together, against a plain count of all rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { batchesOf, emptyLog } from '../../../test/support/parts/stored-log.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { isBlockedStatus, type QueryStatusCode } from '../../../shared/query-log.ts';
import { startOf } from '../names/list-span.ts';
import { BlockGatherer, DAY_MS } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { dropPartitions } from '../store/partition-store.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import { NameFolding } from '../upkeep/name-folding.ts';
import { LogMemory } from '../search/log-memory.ts';
import { sumClients, sumNames, type SumRequest } from './log-sums.ts';

const HOUR_MS = 3_600_000;
/** The last day of a month, all of which is over. */
const DAY = startOf('M', startOf('M', Date.now()) - 1) / DAY_MS - 1;
const START_MS = DAY * DAY_MS;

interface Row {
  readonly timeMs: number;
  readonly node: number;
  readonly name: number;
  readonly client: number;
  readonly status: QueryStatusCode;
}
const groupOf = ({ client }: Row): number => 1 + (client % 3);

let own: TestDatabase;
const gatherers = new Map<number, BlockGatherer>();
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(() => emptyLog(own.database));
afterAll(() => own.stop());

async function store(node: number, rows: readonly Row[]): Promise<void> {
  const gatherer = gatherers.get(node) ?? new BlockGatherer();
  gatherers.set(node, gatherer);
  const logged = rows.map((row) =>
    logRow({
      timestampMs: row.timeMs,
      client: Uint8Array.of(192, 0, 2, row.client),
      groupId: groupOf(row),
      qname: wireName(`n${row.name}.example`),
      status: row.status,
    }),
  );
  for (const batch of await batchesOf(logged, gatherer))
    await storeBlock(own.database, batch, { nodeId: node, durable: false });
}

const upkeep = { logger: new MemoryLogger() };
const folding = (nodeId: number): NameFolding =>
  new NameFolding({ ...upkeep, database: own.database, nodeId });
const merging = (nodeId: number): MergeUpkeep =>
  new MergeUpkeep({ ...upkeep, database: own.database, nodeId });

/** Nothing, everything, and little is remembered, by turns. */
const memories = [undefined, new LogMemory(), new LogMemory(5000), new LogMemory(1e6, 4)];
let asked = 0;

async function read(
  change: Partial<SumRequest>,
): Promise<{ names: unknown; clients: unknown; isEstimate: boolean }> {
  const request: SumRequest = {
    ...{ fromUs: 0, toUs: Date.now() * 1000, filter: {} },
    onDamaged: (what, reason) => {
      throw new Error(`${what}: ${reason}`);
    },
    ...change,
  };
  const memory = memories[asked++ % memories.length];
  memory?.beginQuestion();
  return own.database.background().read(async (bare) => {
    const tx = memory === undefined ? bare : { ...bare, memory };
    const names = await sumNames(tx, request);
    const clients = await sumClients(tx, request);
    return {
      names: Object.fromEntries(names),
      clients: Object.fromEntries(clients),
      isEstimate: names.isEstimate || clients.isEstimate,
    };
  });
}

function naive(rows: readonly Row[]): { names: unknown; clients: unknown; isEstimate: boolean } {
  const names: Record<string, { resolved: number; blocked: number; other: number }> = {};
  const clients: Record<string, { queries: number; blocked: number }> = {};
  for (const { name, client, status } of rows) {
    const sum = (names[`n${name}.example`] ??= { resolved: 0, blocked: 0, other: 0 });
    const ofClient = (clients[`192.0.2.${client}`] ??= { queries: 0, blocked: 0 });
    sum[isBlockedStatus(status) ? 'blocked' : status === 1 ? 'resolved' : 'other']++;
    ofClient.queries++;
    if (isBlockedStatus(status)) ofClient.blocked++;
  }
  return { names, clients, isEstimate: false };
}

/** Hours in which many blocks come, so that some get a list. */
const hour = fc.oneof(fc.constantFrom(5, 26), fc.nat(71));
const node = fc.constantFrom(7, 8);
const storing = fc.record({
  what: fc.constant('store' as const),
  node,
  hour,
  blocks: fc.integer({ min: 1, max: 5 }),
  rows: fc.array(
    fc.record({
      sinceMs: fc.nat(HOUR_MS - 1),
      name: fc.nat(6),
      client: fc.nat(5),
      status: fc.constantFrom<QueryStatusCode>(1, 4, 12),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});
const keeping = fc.record({
  what: fc.constantFrom('fold' as const, 'fold both' as const, 'merge' as const, 'fold day' as const),
  node,
  day: fc.nat(2),
});
const spanned = fc.record({
  fromMs: fc.oneof(
    fc.integer({ min: -40 * DAY_MS, max: 4 * DAY_MS }),
    fc.integer({ min: -40, max: 90 }).map((h) => h * HOUR_MS),
  ),
  lengthMs: fc.oneof(
    fc.nat(50 * DAY_MS),
    fc.nat(3 * HOUR_MS),
    fc.nat(80).map((h) => h * HOUR_MS),
  ),
  group: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  ofNode: fc.option(node, { nil: undefined }),
});

async function keep({ what, node: of, day }: { what: string; node: number; day: number }): Promise<void> {
  if (what === 'fold') await folding(of).turn();
  else if (what === 'fold both')
    await Promise.all([folding(7).turn(), folding(8).turn(), folding(of).turn()]);
  else if (what === 'merge') await merging(of).turn();
  else await folding(of).foldDay(DAY + day);
}

describe('sums from lists', () => {
  test('are the sums of all rows, whatever was folded, merged and late, for any span, node and group', async () => {
    const steps = fc.array(fc.oneof({ weight: 2, arbitrary: storing }, keeping), {
      minLength: 3,
      maxLength: 14,
    });
    const spans = fc.array(spanned, { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, spans, async (list, questions) => {
        await emptyLog(own.database);
        gatherers.clear();
        const rows: Row[] = [];
        for (const step of list) {
          if (step.what !== 'store') {
            await keep(step);
            continue;
          }
          for (let block = 0; block < step.blocks; block++) {
            const added = step.rows.map(({ sinceMs, ...row }) => ({
              ...row,
              node: step.node,
              timeMs: START_MS + step.hour * HOUR_MS + ((sinceMs + block * 1000) % HOUR_MS),
            }));
            await store(step.node, added);
            rows.push(...added);
          }
        }
        for (const { fromMs, lengthMs, group, ofNode } of questions) {
          const from = START_MS + fromMs;
          const to = Math.min(from + lengthMs, Date.now());
          const wanted = rows.filter(
            (row) =>
              row.timeMs >= from &&
              row.timeMs < to &&
              (group === undefined || groupOf(row) === group) &&
              (ofNode === undefined || row.node === ofNode),
          );
          const request = {
            fromUs: from * 1000,
            toUs: to * 1000,
            nodeId: ofNode,
            filter: { group_id: group },
          };
          expect(await read(request)).toEqual(naive(wanted));
        }
      }),
      { numRuns: 8 },
    );
  });

  test('outlive the blocks of their day; a day that lies partly in the span counts if its noon does', async () => {
    const rows = [1, 30, 54].map((at): Row => ({
      ...{ node: 7, name: at, client: 1, status: 1 },
      timeMs: START_MS + at * HOUR_MS,
    }));
    await store(7, rows);
    for (const day of [DAY, DAY + 1]) expect(await folding(7).foldDay(day)).toBe(true);
    await dropPartitions(own.database, [DAY, DAY + 1]);
    expect(await read({})).toEqual(naive(rows));
    const from = (hours: number): Partial<SumRequest> => ({ fromUs: (START_MS + hours * HOUR_MS) * 1000 });
    expect(await read(from(12))).toEqual({ ...naive(rows), isEstimate: true });
    expect(await read(from(13))).toEqual({ ...naive(rows.slice(1)), isEstimate: true });
    expect(await read(from(24))).toEqual(naive(rows.slice(1)));
  });

  test('do without a damaged list, say which it is, and are an estimate then', async () => {
    const rows = [1, 30].map((at): Row => ({
      ...{ node: 7, name: at, client: 1, status: 1 },
      timeMs: START_MS + at * HOUR_MS,
    }));
    await store(7, rows);
    await folding(7).turn();
    await own.database.query(
      `UPDATE query_names SET names = set_byte(names, 20, get_byte(names, 20) # 1) WHERE start = $1`,
      [new Date(START_MS)],
    );
    const damaged: string[] = [];
    const onDamaged = (what: string, reason: string): void => void damaged.push(`${what} ${reason}`);
    const request = { fromUs: START_MS * 1000, toUs: (START_MS + 2 * DAY_MS) * 1000, filter: {}, onDamaged };
    const sums = await sumNames(own.database, request);
    expect([Object.keys(Object.fromEntries(sums)), sums.isEstimate]).toEqual([['n30.example'], true]);
    expect(damaged).toEqual([`d ${new Date(START_MS).toISOString()} 7 read list of names: checksum`]);
  });
});
