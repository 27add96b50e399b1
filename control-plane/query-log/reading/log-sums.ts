/**
 * Counts by name and by client over a span: of lists (`names/list-parts.ts`), and of blocks that those do not count.
 * Blocks that lie wholly within it are counted from their dictionaries; the others, and those of which only some queries
 * match, row by row. Lists tell groups apart, but not clients' names.
 */
import { reasonOf } from '../../../shared/thrown.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock, NameClass } from '../block/block-layout.ts';
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import { type KeyCounts, KeySums } from '../names/key-sums.ts';
import { KeyTable } from '../names/key-table.ts';
import { type ListParts, partsOf } from '../names/list-parts.ts';
import { startOf } from '../names/list-span.ts';
import { DamagedList, NameList } from '../names/name-list.ts';
import { type FoundList, labelOf, readAloneDays, scanLists } from '../names/name-list-store.ts';
import { BlockFilter, type QueryFilter, type TimeSpan } from './block-filter.ts';
import {
  type BlockRequest,
  type BlockTransaction,
  fetchBlock,
  type Piece,
  scanBlocks,
  type StoredBlock,
} from './block-scan.ts';

/** Which queries. */
export interface SumRequest extends TimeSpan, Pick<BlockRequest, 'nodeId'> {
  readonly filter: QueryFilter;
  /** Called for each block that cannot be read; the sums do without it. */
  readonly onDamaged: (block: string, reason: string) => void;
}

/** Queries for a name. */
export interface NameSum {
  /** Answered from upstreams or the cache. */
  resolved: number;
  blocked: number;
  other: number;
}

/** Queries of a client. */
export interface ClientSum {
  queries: number;
  blocked: number;
}

const NAMES: ReadonlySet<Piece> = new Set(['names']);
const HEAD: ReadonlySet<Piece> = new Set();
const ROWS: ReadonlySet<Piece> = new Set(['names', 'queries']);

/** Counts by name. */
export async function sumNames(tx: BlockTransaction, request: SumRequest): Promise<KeySums<NameSum>> {
  const table = new KeyTable();
  const isIncomplete = await sum(tx, request, {
    table,
    kind: 'names',
    wholePieces: NAMES,
    addBlock: addNames,
  });
  return new KeySums(table, (counts) => counts, isIncomplete);
}

/** Counts by address. */
export async function sumClients(tx: BlockTransaction, request: SumRequest): Promise<KeySums<ClientSum>> {
  const table = new KeyTable();
  const isIncomplete = await sum(tx, request, {
    ...{ table, kind: 'clients', wholePieces: HEAD, addBlock: addClients },
  });
  return new KeySums(table, toClientSum, isIncomplete);
}

function toClientSum({ resolved, blocked }: KeyCounts): ClientSum {
  return { queries: resolved + blocked, blocked };
}

/** What is summed, and how. */
interface Target {
  readonly table: KeyTable;
  readonly kind: 'names' | 'clients';
  /** Of a block of which all queries count. */
  readonly wholePieces: ReadonlySet<Piece>;
  /** Adds the rows of a block; null = all. */
  readonly addBlock: (table: KeyTable, reader: BlockReader, rows: readonly number[] | null) => void;
}

/** Sums lists and blocks; returns whether something could not be counted. */
async function sum(tx: BlockTransaction, request: SumRequest, target: Target): Promise<boolean> {
  const { lists, blocks, isRounded } = await partsOfRequest(tx, request);
  let isIncomplete = isRounded;
  const onDamaged: SumRequest['onDamaged'] = (what, reason) => {
    isIncomplete = true;
    request.onDamaged(what, reason);
  };
  for await (const list of scanLists(tx, { ranges: lists, nodeId: request.nodeId, kind: target.kind })) {
    await tx.turn?.();
    addList(list, target.table, { ...request, onDamaged });
  }
  for (const range of blocks) {
    await forEachBlock(tx, { ...request, ...range, onDamaged }, target.wholePieces, (reader, rows) =>
      target.addBlock(target.table, reader, rows),
    );
  }
  return isIncomplete;
}

/** Lists know groups; whatever else is wanted is counted from blocks. */
async function partsOfRequest(
  tx: BlockTransaction,
  { fromUs, toUs, filter: { group_id: _, ...rest } }: SumRequest,
): Promise<ListParts> {
  const isInLists = Object.values(rest).every((condition) => condition === undefined);
  if (!isInLists) return { lists: [], blocks: [{ fromUs, toUs, unlisted: null }], isRounded: false };
  const alone = await readAloneDays(tx, [startOf('d', fromUs / 1000), startOf('d', toUs / 1000)]);
  return partsOf({ fromUs, toUs }, alone);
}

function addList(list: FoundList, table: KeyTable, { filter, onDamaged }: SumRequest): void {
  try {
    new NameList(list).addSumTo(table, filter.group_id);
  } catch (error) {
    if (!(error instanceof DamagedList)) throw error;
    onDamaged(labelOf(list), reasonOf(error));
  }
}

function addNames(table: KeyTable, reader: BlockReader, rows: readonly number[] | null): void {
  const { texts, starts, counts, classes } = reader.names();
  const queries = rows === null ? counts : countPlaces(reader.nameOf(), rows, counts.length);
  for (let name = 0; name < queries.length; name++) {
    if (queries[name] === 0) continue;
    const start = starts[name]!;
    const place = table.place(texts, start, starts[name + 1]! - 1 - start, 0);
    if (classes[name] === NameClass.RESOLVED) table.resolved[place]! += queries[name]!;
    else if (classes[name] === NameClass.BLOCKED) table.blocked[place]! += queries[name]!;
    else table.other[place]! += queries[name]!;
  }
}

function addClients(table: KeyTable, reader: BlockReader, rows: readonly number[] | null): void {
  const { clients, outcomes } = reader.head;
  const add = (client: number, queries: number, blocked: number): void => {
    const address = Buffer.from(clients[client]![0], 'latin1');
    const place = table.place(address, 0, address.length, 0);
    table.resolved[place]! += queries - blocked;
    table.blocked[place]! += blocked;
  };
  if (rows === null) {
    clients.forEach(([, , queries, blocked], client) => add(client, queries, blocked));
    return;
  }
  const isBlocked = outcomes.map(([, status]) => isBlockedStatus(QueryStatus[status]));
  const clientOf = reader.clientOf();
  const outcomeOf = reader.outcomeOf();
  const blocked = rows.filter((row) => isBlocked[outcomeOf[row]!]);
  const queriesOf = countPlaces(clientOf, rows, clients.length);
  const blockedOf = countPlaces(clientOf, blocked, clients.length);
  queriesOf.forEach((queries, client) => {
    if (queries > 0) add(client, queries, blockedOf[client]!);
  });
}

/** Calls `take` with each block and the places of the rows that count; null = all. */
export async function forEachBlock(
  tx: BlockTransaction,
  { filter: conditions, onDamaged, ...span }: SumRequest & Pick<BlockRequest, 'unlisted'>,
  wholePieces: ReadonlySet<Piece>,
  take: (reader: BlockReader, rows: number[] | null) => void,
): Promise<void> {
  const filter = new BlockFilter(conditions);
  const pieces = filter.matchesAll ? wholePieces : ROWS;
  for await (const stored of scanBlocks(tx, { ...span, pieces })) {
    const isWhole = stored.firstUs >= span.fromUs && stored.lastUs < span.toUs;
    const all = filter.matchesAll && isWhole;
    const block = all || !filter.matchesAll ? stored : await fetchBlock(tx, stored, ROWS);
    if (block === null) continue;
    try {
      const reader = new BlockReader(block);
      take(reader, all ? null : filter.rows(reader, span));
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      onDamaged(nameOf(stored), reasonOf(error));
    }
  }
}

/** A block as reports name it. */
export function nameOf({ runId, firstSeq }: StoredBlock): string {
  return `${runId}.${firstSeq}`;
}

function countPlaces(places: Uint32Array, rows: readonly number[], count: number): Uint32Array {
  const counts = new Uint32Array(count);
  for (const row of rows) counts[places[row]!]!++;
  return counts;
}
