/** Counts the names and clients of blocks by group, to be added to the stored top lists. */
import type { BlockNames, BlockReader } from '../block/block-reader.ts';
import { type HeadClient, NameClass } from '../block/block-layout.ts';
import { clientText } from './client-text.ts';
import { KeyTable } from './key-table.ts';

/** Number of names that are added before a pause; takes a few milliseconds. */
const ENTRIES_PER_TURN = 8192;

/** Tables of names and clients, by group. */
export class BlockTally {
  /** The tag of an entry is its group. */
  readonly names: KeyTable;
  readonly clients: KeyTable;
  readonly groups = new Set<number>();
  /** Number of all queries, including queries for names that are no longer in the table. */
  queries = 0;

  constructor(maxEntries?: number) {
    this.names = new KeyTable(maxEntries);
    this.clients = new KeyTable(maxEntries);
  }

  /**
   * Adds a block: rows are counted by name, and rows and repeats by client. `pause` is called regularly to let other
   * work of the thread run. The reader must have the names piece of the block and, unless `isOfOneGroup()`, also the
   * queries piece.
   * @throws {DamagedBlock}
   */
  async addBlock(reader: BlockReader, pause: () => Promise<unknown>): Promise<void> {
    const { clients, repeats, rows } = reader.head;
    // All data that may be damaged is read first, so that a damaged block is not counted in part.
    const names = reader.names();
    const entries = isOfOneGroup(reader) ? ofOneGroup(names.counts, clients[0]![1]) : byGroup(reader);
    let added = 0;
    for (const [name, queries, group] of entries) {
      this.addName(names, name, queries, group);
      if (++added % ENTRIES_PER_TURN === 0) await pause();
    }
    for (const client of clients) this.addClient(client, client[2], client[3]);
    repeats?.clients.forEach((client, entry) => this.addClient(clients[client]!, repeats.queries[entry]!, 0));
    this.queries += rows;
  }

  private addName(
    { texts, starts, classes }: BlockNames,
    name: number,
    queries: number,
    group: number,
  ): void {
    const start = starts[name]!;
    const place = this.names.place(texts, start, starts[name + 1]! - 1 - start, group);
    if (classes[name] === NameClass.RESOLVED) this.names.resolved[place]! += queries;
    else if (classes[name] === NameClass.BLOCKED) this.names.blocked[place]! += queries;
    else this.names.other[place]! += queries;
  }

  private addClient(client: HeadClient, queries: number, blocked: number): void {
    const [, group] = client;
    const bytes = Buffer.from(clientText(client), 'latin1');
    const place = this.clients.place(bytes, 0, bytes.length, group);
    this.clients.resolved[place]! += queries - blocked;
    this.clients.blocked[place]! += blocked;
    this.groups.add(group);
  }
}

/** Whether all queries of a block belong to one group, so that the counts by name suffice. */
export function isOfOneGroup({ head: { clients } }: BlockReader): boolean {
  return clients.every(([, group]) => group === clients[0]![1]);
}

type NameEntries = Iterable<readonly [name: number, queries: number, group: number]>;

function* ofOneGroup(counts: Uint32Array, group: number): NameEntries {
  for (let name = 0; name < counts.length; name++) yield [name, counts[name]!, group];
}

/** Counts of names by group, from the name and client columns of the rows. */
function byGroup(reader: BlockReader): NameEntries {
  const { clients, names, rows } = reader.head;
  const nameOf = reader.nameOf();
  const clientOf = reader.clientOf();
  const rowsOf = new Map(clients.map(([, group]): [number, number[]] => [group, []]));
  const ofClient = clients.map(([, group]) => rowsOf.get(group)!);
  for (let row = 0; row < rows; row++) ofClient[clientOf[row]!]!.push(row);
  return namesOfGroups(rowsOf, nameOf, new Uint32Array(names));
}

function* namesOfGroups(
  rowsOf: ReadonlyMap<number, readonly number[]>,
  nameOf: Uint16Array,
  counts: Uint32Array,
): NameEntries {
  for (const [group, rows] of rowsOf) {
    for (const row of rows) counts[nameOf[row]!]!++;
    for (const row of rows) {
      const name = nameOf[row]!;
      if (counts[name] !== 0) yield [name, counts[name]!, group];
      counts[name] = 0;
    }
  }
}
