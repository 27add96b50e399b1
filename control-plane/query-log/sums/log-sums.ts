/**
 * Counts by name and by client over a span: from stored top lists (`top-lists/list-parts.ts`), and from blocks that no
 * list counts. Blocks that lie entirely within the span are counted from their dictionaries; other blocks, and blocks
 * of which only some queries match, are counted row by row. Lists count names by group, but not by client.
 */
import { reasonOf } from '../../../shared/errors.ts';
import { BlockReader } from '../block/block-reader.ts';
import { clientText } from '../top-lists/client-text.ts';
import { DamagedBlock, NameClass } from '../block/block-layout.ts';
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import { type KeyCounts, KeySums } from '../top-lists/key-sums.ts';
import { BookSums } from '../top-lists/book-sums.ts';
import type { KnownNames } from '../top-lists/name-book.ts';
import { type ListParts, partsOf, startOf } from '../top-lists/list-parts.ts';
import { DamagedList, NameList } from '../top-lists/name-list.ts';
import {
  fetchLists,
  findLists,
  labelOf,
  type ListKind,
  type ListPlace,
  readDaysWithoutBlocks,
} from '../top-lists/name-list-store.ts';
import { BlockFilter, type TimeSpan } from '../search/block-filter.ts';
import type { QueryFilter } from '../search/query-conditions.ts';
import { type BlockRequest, scanBlocks } from '../search/block-scan.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import type { Piece, StoredBlock } from '../search/stored-block.ts';

/** Selects queries. */
export interface SumRequest extends TimeSpan, Pick<BlockRequest, 'nodeId'> {
  readonly filter: QueryFilter;
  /** Called for each block that cannot be read; the sums do not include the block. */
  readonly onDamaged: (block: string, reason: string) => void;
}

/** Numbers of queries for a name. */
export interface NameSum {
  /** Number of queries that were answered from upstreams or the cache. */
  resolved: number;
  blocked: number;
  other: number;
}

/** Numbers of queries of a client. */
export interface ClientSum {
  queries: number;
  blocked: number;
}

/** Counts by name. */
export async function sumNames(tx: BlockTransaction, request: SumRequest): Promise<KeySums<NameSum>> {
  const { sums, isIncomplete } = await sum(tx, request, NAMES_TARGET);
  return new KeySums(sums.keys(), (counts) => counts, isIncomplete);
}

/** Counts by client, see `top-lists/client-text.ts`. */
export async function sumClients(tx: BlockTransaction, request: SumRequest): Promise<KeySums<ClientSum>> {
  const { sums, isIncomplete } = await sum(tx, request, CLIENTS_TARGET);
  return new KeySums(sums.keys(), toClientSum, isIncomplete);
}

function toClientSum({ resolved, blocked }: KeyCounts): ClientSum {
  return { queries: resolved + blocked, blocked };
}

/** Kind of counts to sum, and a function that adds one block to the sums. */
interface Target extends BlockUse {
  readonly kind: ListKind;
  /** Adds the rows of a block; null = all rows. */
  readonly addBlock: (sums: BookSums, block: OpenedBlock, rows: readonly number[] | null) => void;
}

const NAMES_TARGET: Target = {
  kind: 'names',
  fullPieces: ['names'],
  rowPieces: ['names', 'nameOf'],
  usesNames: true,
  addBlock: addNames,
};
const CLIENTS_TARGET: Target = {
  kind: 'clients',
  fullPieces: [],
  rowPieces: ['clientOf', 'outcomeOf'],
  usesNames: false,
  addBlock: addClients,
};

/** Sums lists and blocks; returns whether something could not be counted. */
async function sum(
  tx: BlockTransaction,
  request: SumRequest,
  target: Target,
): Promise<{ sums: BookSums; isIncomplete: boolean }> {
  const { lists, blocks, isRounded } = await partsOfRequest(tx, request);
  const sums = new BookSums();
  let isIncomplete = isRounded;
  const onDamaged: SumRequest['onDamaged'] = (what, reason) => {
    isIncomplete = true;
    request.onDamaged(what, reason);
  };
  await addLists(tx, { ...request, onDamaged, lists }, target.kind, sums);
  for (const range of blocks)
    await forEachBlock(tx, { ...request, ...range, onDamaged }, target, (block, rows) =>
      target.addBlock(sums, block, rows),
    );
  return { sums, isIncomplete };
}

/**
 * The lists and blocks to sum for a request. Lists can only be used if the filter has no other condition than a group.
 */
async function partsOfRequest(
  tx: BlockTransaction,
  { fromUs, toUs, filter: { group_id: _, ...rest } }: SumRequest,
): Promise<ListParts> {
  const isInLists = Object.values(rest).every((condition) => condition === undefined);
  if (!isInLists) return { lists: [], blocks: [{ fromUs, toUs, unlisted: null }], isRounded: false };
  const alone = await readDaysWithoutBlocks(tx, [startOf('d', fromUs / 1000), startOf('d', toUs / 1000)]);
  return partsOf({ fromUs, toUs }, alone);
}

async function addLists(
  tx: BlockTransaction,
  { lists, nodeId, filter, onDamaged }: SumRequest & Pick<ListParts, 'lists'>,
  kind: ListKind,
  sums: BookSums,
): Promise<void> {
  const { group_id: group } = filter;
  const missing: ListPlace[] = [];
  for (const place of await findLists(tx, { ranges: lists, nodeId, kind })) {
    const known = tx.memory?.findList(kind, place);
    if (known === undefined) missing.push(place);
    else sums.addList(known, group);
  }
  for await (const found of fetchLists(tx, kind, missing)) {
    await tx.turn?.();
    try {
      const list = new NameList(found);
      const known = tx.memory?.keepList(kind, found, list);
      if (known === undefined) list.addSumTo(sums.table, group);
      else sums.addList(known, group);
    } catch (error) {
      if (!(error instanceof DamagedList)) throw error;
      onDamaged(labelOf(found), reasonOf(error));
    }
  }
}

function addNames(sums: BookSums, { reader, names }: OpenedBlock, rows: readonly number[] | null): void {
  if (names !== undefined) {
    if (rows === null) sums.addNames(names, names.counts);
    else sums.addQueries(names, reader.nameOf(), rows);
    return;
  }
  const { table } = sums;
  const { texts, starts, counts, classes } = reader.nameCounts();
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

function addClients(
  { table }: BookSums,
  { reader, repeats }: OpenedBlock,
  rows: readonly number[] | null,
): void {
  const { clients, outcomes } = reader.head;
  const add = (client: number, queries: number, blocked: number): void => {
    const address = Buffer.from(clientText(clients[client]!), 'latin1');
    const place = table.place(address, 0, address.length, 0);
    table.resolved[place]! += queries - blocked;
    table.blocked[place]! += blocked;
  };
  if (rows === null) {
    clients.forEach(([, , queries, blocked], client) =>
      add(client, queries + (repeats?.[client] ?? 0), blocked),
    );
    return;
  }
  const isBlocked = outcomes.map(([, status]) => isBlockedStatus(QueryStatus[status]));
  const clientOf = reader.clientOf();
  const outcomeOf = reader.outcomeOf();
  const blocked = rows.filter((row) => isBlocked[outcomeOf[row]!]);
  const queriesOf = countPlaces(clientOf, rows, clients.length);
  const blockedOf = countPlaces(clientOf, blocked, clients.length);
  queriesOf.forEach((rowsOfClient, client) => {
    const queries = rowsOfClient + (repeats?.[client] ?? 0);
    if (queries > 0) add(client, queries, blockedOf[client]!);
  });
}

/** The pieces of a block that a caller needs. */
export interface BlockUse {
  /** Pieces in addition to the head: `fullPieces` if all queries of the block count, `rowPieces` if only some count. */
  readonly fullPieces: readonly Piece[];
  readonly rowPieces: readonly Piece[];
  /** Whether the caller also accepts the names as indexes into a book of cached names. */
  readonly usesNames: boolean;
}

/** A block that is being read. */
export interface OpenedBlock {
  readonly reader: BlockReader;
  /** Cached names of the block, if any; `reader` may then lack the frames of the names. */
  readonly names: KnownNames | undefined;
  /** By index of a client: number of repeats that count; null = no repeats. */
  readonly repeats: Uint32Array | null;
}

/** Calls `take` with each block and the indexes of the rows that count; null = all rows. */
export async function forEachBlock(
  tx: BlockTransaction,
  { filter: conditions, onDamaged, ...span }: SumRequest & Pick<BlockRequest, 'unlisted'>,
  use: BlockUse,
  take: (block: OpenedBlock, rows: number[] | null) => void,
): Promise<void> {
  const filter = new BlockFilter(conditions);
  const isWhole = ({ firstUs, lastUs }: StoredBlock): boolean => firstUs >= span.fromUs && lastUs < span.toUs;
  const isAll = (stored: StoredBlock): boolean => filter.matchesAll && isWhole(stored);
  const pieces = (stored: StoredBlock): ReadonlySet<Piece> => piecesOf(stored, filter, use, isWhole(stored));
  for await (const stored of scanBlocks(tx, { ...span, reader: 'statistics', pieces })) {
    // No query of the block matches.
    if (pieces(stored).size === 0 && !isAll(stored)) continue;
    try {
      const block = open(tx, stored, use, isAll(stored));
      const { reader, names } = block;
      const repeats = filter.repeatsByClient(reader, span, names);
      take({ ...block, repeats }, isAll(stored) ? null : filter.rows(reader, span, names));
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      onDamaged(nameOf(stored), reasonOf(error));
    }
  }
}

/** The pieces to fetch; empty if no query matches, or if the cached data of the block is sufficient. */
function piecesOf(
  { known }: StoredBlock,
  filter: BlockFilter,
  { fullPieces, rowPieces, usesNames }: BlockUse,
  isWhole: boolean,
): ReadonlySet<Piece> {
  const isAll = filter.matchesAll && isWhole;
  const isWithout = !isAll && known !== undefined && filter.countByHead(known.head, known.names) === 0;
  if (isWithout && known.head.repeats === null) return new Set();
  const hasNames = known?.names !== undefined;
  const toSearch = filter.piecesToSearch(hasNames).filter((piece) => piece !== 'times' || !isWhole);
  const wanted = new Set(isAll ? fullPieces : [...rowPieces, ...toSearch]);
  if (usesNames && hasNames && !toSearch.includes('names')) wanted.delete('names');
  if (known === undefined) wanted.add('head');
  return wanted;
}

function open(
  tx: BlockTransaction,
  stored: StoredBlock,
  { usesNames }: BlockUse,
  isAll: boolean,
): Omit<OpenedBlock, 'repeats'> {
  const { known } = stored;
  const reader = new BlockReader(stored, known?.head);
  if (known === undefined) tx.memory?.keepHead(stored, reader.head);
  // If only some rows count, most names are not needed. They are therefore cached only when the block is read again,
  // such as a block at the start or end of a period.
  const names = known?.names ?? (usesNames ? tx.memory?.keepNames(stored, reader, isAll) : undefined);
  return { reader, names };
}

/** Counts how often each index occurs in the given rows. */
function countPlaces(places: Uint16Array, rows: readonly number[], count: number): Uint32Array {
  const counts = new Uint32Array(count);
  for (const row of rows) counts[places[row]!]!++;
  return counts;
}

/** The name of a block in error reports. */
export function nameOf({ runId, firstSeq }: StoredBlock): string {
  return `${runId}.${firstSeq}`;
}
