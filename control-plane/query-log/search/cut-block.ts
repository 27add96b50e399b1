/** Removes rows from a block of the query log. Pure. */
import { encodeBlock, sealBlock } from '../block/block-encoder.ts';
import type { BlockReader } from '../block/block-reader.ts';
import { forEachRepeat, forEachRow } from '../block/block-rows.ts';
import type { EncodedBlock } from '../block/block-layout.ts';
import { type StoredParts, OpenBlock } from '../block/open-block.ts';
import { BlockFilter } from './block-filter.ts';
import { clientTest, type DeviceCondition } from './query-conditions.ts';

/**
 * Rows to remove: those of a span, in microseconds since 1970 with an exclusive end, and of one client or all clients.
 */
export interface ClearScope {
  readonly fromUs: number;
  readonly toUs: number;
  /** Null = all clients. */
  readonly device: DeviceCondition | null;
}

/** A block without some of its rows. */
export interface CutBlock {
  /** Null if no row is left. */
  readonly kept: EncodedBlock | null;
  readonly removed: RemovedRows;
  /** Whether all removed rows come before the kept ones. */
  readonly isPrefix: boolean;
}

/** Removed rows. */
export interface RemovedRows {
  readonly rows: number;
  /** Microseconds since 1970. */
  readonly firstUs: number;
  readonly lastUs: number;
}

/** For each row, and each entry of the repeats: 1 = it must be removed. */
interface RemovalMarks {
  readonly rows: Uint8Array;
  readonly repeats: Uint8Array;
}

/** The block is written again with all its parts; parts that privacy settings exclude were never stored. */
const ALL: StoredParts = { ipv4Bytes: 4, ipv6Bytes: 16, answers: true, clientIds: true };

/** Whether a scope contains all rows of a block, according to the span of the block. */
export function takesAll({ fromUs, toUs, device }: ClearScope, block: EncodedBlock): boolean {
  return device === null && block.firstUs >= fromUs && block.lastUs < toUs;
}

/** Whether a scope may contain some rows of a block, according to the clients in its head. */
export function mayTake({ device }: ClearScope, { head }: BlockReader): boolean {
  const isWanted = device === null ? null : clientTest({ device });
  return isWanted === null || head.clients.some(isWanted);
}

/**
 * The block without the rows of these scopes; null if no row is removed. Repeats are removed with the row that
 * represents them, and also if their own client is removed. @throws {DamagedBlock}
 */
export async function cutBlock(reader: BlockReader, scopes: readonly ClearScope[]): Promise<CutBlock | null> {
  const doomed = doomedOf(reader, scopes);
  const rows = doomed.rows.reduce((sum, mark) => sum + mark, 0);
  if (rows === 0 && !doomed.repeats.includes(1)) return null;
  const removed = removedOf(reader, doomed.rows, rows);
  const isPrefix = doomed.rows.lastIndexOf(1) < rows;
  return { kept: rows === reader.head.rows ? null : await keep(reader, doomed), removed, isPrefix };
}

function doomedOf(reader: BlockReader, scopes: readonly ClearScope[]): RemovalMarks {
  const { clients, rows: rowCount, repeats } = reader.head;
  const doomed = { rows: new Uint8Array(rowCount), repeats: new Uint8Array(repeats?.rows.length ?? 0) };
  for (const { device, ...span } of scopes) {
    const filter = device === null ? {} : { device };
    for (const row of new BlockFilter(filter).rows(reader, span)) doomed.rows[row] = 1;
    if (repeats === null) continue;
    const isWithin = new Uint8Array(rowCount);
    for (const row of new BlockFilter({}).rows(reader, span)) isWithin[row] = 1;
    const isWanted = clientTest(filter) ?? (() => true);
    repeats.rows.forEach((row, entry) => {
      if (isWithin[row] === 1 && isWanted(clients[repeats.clients[entry]!]!)) doomed.repeats[entry] = 1;
    });
  }
  repeats?.rows.forEach((row, entry) => (doomed.repeats[entry]! |= doomed.rows[row]!));
  return doomed;
}

function removedOf(reader: BlockReader, marks: Uint8Array, rows: number): RemovedRows {
  const times = reader.times();
  const { first_us: earliest, last_us: latest } = reader.head;
  if (rows === 0) return { rows, firstUs: earliest, lastUs: latest };
  let firstUs = Infinity;
  let lastUs = -Infinity;
  marks.forEach((mark, row) => {
    if (mark === 0) return;
    firstUs = Math.min(firstUs, times[row]!);
    lastUs = Math.max(lastUs, times[row]!);
  });
  return { rows, firstUs, lastUs };
}

async function keep(reader: BlockReader, doomed: RemovalMarks): Promise<EncodedBlock> {
  const kept = new OpenBlock();
  const places = new Uint16Array(reader.head.rows);
  let index = 0;
  forEachRow(reader, (row, timestampUs) => {
    places[index] = kept.rowCount;
    if (doomed.rows[index++] === 0) kept.add(row, timestampUs, ALL);
  });
  let entry = 0;
  forEachRepeat(reader.head, (row, client, queries) => {
    if (doomed.repeats[entry++] === 0) kept.carryRepeats(places[row]!, client, queries);
  });
  return encodeBlock(sealBlock(kept));
}
