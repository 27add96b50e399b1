/**
 * Counts by name and by client over the blocks of a span. Blocks that lie wholly within it, and all are by default,
 * are counted from their dictionaries; the others, and those of which only some queries match, row by row.
 */
import { reasonOf } from '../../../shared/thrown.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock, NameClass } from '../block/block-layout.ts';
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import { BoundedSums } from './bounded-sums.ts';
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
export async function sumNames(tx: BlockTransaction, request: SumRequest): Promise<BoundedSums<NameSum>> {
  const sums = new BoundedSums<NameSum>(
    () => ({ resolved: 0, blocked: 0, other: 0 }),
    ({ resolved, blocked, other }) => resolved + blocked + other,
  );
  const add = (name: string, nameClass: number, queries: number): void => {
    const sum = sums.sumOf(name);
    if (nameClass === NameClass.RESOLVED) sum.resolved += queries;
    else if (nameClass === NameClass.BLOCKED) sum.blocked += queries;
    else sum.other += queries;
  };
  await forEachBlock(tx, request, NAMES, (reader, rows) => {
    const { texts, starts, counts, classes } = reader.names();
    const queries = rows === null ? counts : countPlaces(reader.nameOf(), rows, counts.length);
    for (let place = 0; place < queries.length; place++) {
      if (queries[place] === 0) continue;
      add(texts.toString('latin1', starts[place], starts[place + 1]! - 1), classes[place]!, queries[place]!);
    }
  });
  return sums;
}

/** Counts by address. */
export async function sumClients(tx: BlockTransaction, request: SumRequest): Promise<BoundedSums<ClientSum>> {
  const sums = new BoundedSums<ClientSum>(
    () => ({ queries: 0, blocked: 0 }),
    ({ queries }) => queries,
  );
  const add = (address: string, queries: number, blocked: number): void => {
    const sum = sums.sumOf(address);
    sum.queries += queries;
    sum.blocked += blocked;
  };
  await forEachBlock(tx, request, HEAD, (reader, rows) => {
    const { clients, outcomes } = reader.head;
    if (rows === null) {
      for (const [address, , queries, blocked] of clients) add(address, queries, blocked);
      return;
    }
    const clientOf = reader.clientOf();
    const outcomeOf = reader.outcomeOf();
    for (const row of rows) {
      const isBlocked = isBlockedStatus(QueryStatus[outcomes[outcomeOf[row]!]![1]]);
      add(clients[clientOf[row]!]![0], 1, isBlocked ? 1 : 0);
    }
  });
  return sums;
}

/** Calls `take` with each block and the places of the rows that count; null = all. */
async function forEachBlock(
  tx: BlockTransaction,
  { filter: conditions, onDamaged, ...span }: SumRequest,
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
