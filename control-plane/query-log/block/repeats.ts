/**
 * Repeats: queries that a row of a block represents in addition to its own, as the row, the client and the number of
 * queries. They are stored as the last frame of a block of format 2. Pure.
 */
import { type BlockHead, DamagedBlock, type Repeats } from './block-layout.ts';
import { fromPlanes, toPlanes16, toPlanes32 } from './planes.ts';

/** Bytes of an entry: two for the row, two for the client and four for the number of queries. */
const ENTRY_BYTES = 8;

/** Repeats of one row by one client. */
export interface RepeatEntry {
  /** Indexes in the block. */
  readonly row: number;
  readonly client: number;
  readonly queries: number;
}

/** The entries sorted by row; null if there are none. */
export function repeatsOf(entries: readonly RepeatEntry[]): Repeats | null {
  if (entries.length === 0) return null;
  const sorted = entries.toSorted((a, b) => a.row - b.row || a.client - b.client);
  return {
    total: sorted.reduce((sum, { queries }) => sum + queries, 0),
    rows: Uint16Array.from(sorted, ({ row }) => row),
    clients: Uint16Array.from(sorted, ({ client }) => client),
    queries: Uint32Array.from(sorted, ({ queries }) => queries),
  };
}

/** The frame that contains the entries. */
export function repeatsToBytes({ rows, clients, queries }: Repeats): Uint8Array {
  const count = rows.length;
  const bytes = new Uint8Array(count * ENTRY_BYTES);
  toPlanes16(rows, count, bytes);
  toPlanes16(clients, count, bytes.subarray(count * 2));
  toPlanes32(queries, count, bytes.subarray(count * 4));
  return bytes;
}

/** Reads the entries from a frame of the block with this head. @throws {DamagedBlock} */
export function repeatsFromBytes(
  bytes: Uint8Array,
  { rows: rowCount, clients: blockClients }: Pick<BlockHead, 'rows' | 'clients'>,
  total: number,
): Repeats {
  const count = bytes.length / ENTRY_BYTES;
  if (!Number.isInteger(count))
    throw new DamagedBlock(`could not read a block: repeats of ${bytes.length} bytes`);
  const rows = Uint16Array.from(fromPlanes(bytes.subarray(0, count * 2), 2));
  const clients = Uint16Array.from(fromPlanes(bytes.subarray(count * 2, count * 4), 2));
  const queries = fromPlanes(bytes.subarray(count * 4), 4);
  let sum = 0;
  for (let entry = 0; entry < count; entry++) {
    if (rows[entry]! >= rowCount || clients[entry]! >= blockClients.length)
      throw new DamagedBlock('could not read a block: repeats refer to a missing row or client');
    sum += queries[entry]!;
  }
  if (sum !== total) throw new DamagedBlock(`could not read a block: ${sum} repeats, expected ${total}`);
  return { total, rows, clients, queries };
}

/** Number of repeats by row; null if no row has repeats. */
export function repeatsByRow({ rows: rowCount, repeats }: BlockHead): Uint32Array | null {
  if (repeats === null) return null;
  const { rows, queries } = repeats;
  const byRow = new Uint32Array(rowCount);
  for (let entry = 0; entry < rows.length; entry++) byRow[rows[entry]!]! += queries[entry]!;
  return byRow;
}

/** Total number of repeats of these rows; null = of all rows. */
export function sumRepeats(head: BlockHead, rows: readonly number[] | null): number {
  if (rows === null || head.repeats === null) return head.repeats?.total ?? 0;
  const byRow = repeatsByRow(head)!;
  return rows.reduce((sum, row) => sum + byRow[row]!, 0);
}
