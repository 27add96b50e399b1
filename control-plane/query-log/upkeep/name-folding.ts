/**
 * Adds ("folds") blocks to the top lists of names and clients in the background. If an hour has many blocks, they are
 * added to the lists of the hour, its day and its month once the hour is over; all other blocks are added to the lists
 * of the day and the month once their day is over. Blocks are marked as counted in the transaction that stores the
 * lists, so that an interruption cannot cause a block to be counted twice or not at all. Each node adds its own blocks;
 * one node at a time also adds blocks of runs that ended long ago.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Database, LentClient } from '../../storage/db/database.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockTally } from '../top-lists/block-tally.ts';
import { KeyTable } from '../top-lists/key-table.ts';
import { DamagedList, encodeList, NameList, type StoredList } from '../top-lists/name-list.ts';
import { type ListGrain, startOf } from '../top-lists/list-parts.ts';
import { labelOf, type ListKey, lockLists, readLists, writeLists } from '../top-lists/name-list-store.ts';
import { type StoredBlock, withoutContent } from '../search/stored-block.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { type BlocksOf, ChangedConcurrently } from './changed-concurrently.ts';
import {
  type BlockPlace,
  fetchUnlisted,
  type FoldUnit,
  listDue,
  markListed,
  nodesOfUnlisted,
} from './unlisted-blocks.ts';

export interface NameFoldingOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** `nodeIdOf(server.node_name)` */
  readonly nodeId: number;
  /** Maximum number of entries of a list. */
  readonly maxEntries?: Readonly<Record<ListGrain, number>>;
}

/** By granularity of the list; an entry needs about 8 bytes on disk. */
const MAX_ENTRIES = { h: 16_384, d: 32_768, M: 65_536 } as const;
/** Maximum size of the texts of a list, in bytes per allowed entry. */
const TEXT_BYTES = 64;
/** Maximum number of units (hours or days of a node) per turn. */
const MAX_UNITS = 32;
/** Number of blocks in memory at the same time. */
const BLOCKS_PER_FETCH = 8;
/** Maximum number of blocks per transaction, which takes some seconds. */
const MAX_BLOCKS = 512;
/** Maximum number of damaged blocks that are remembered. */
const MAX_DAMAGED = 1000;

/** Adds blocks to top lists. */
export class NameFolding {
  private readonly options: Required<NameFoldingOptions>;
  /** Blocks that cannot be read; they are skipped. */
  private readonly damaged: BlockPlace[] = [];

  constructor(options: NameFoldingOptions) {
    this.options = { maxEntries: MAX_ENTRIES, ...options };
  }

  /** Adds the blocks that are due, within limits, until `signal` is aborted; returns the number of queries added. */
  async turn(whose: BlocksOf, signal?: AbortSignal): Promise<number> {
    const { database, nodeId } = this.options;
    const due = await database
      .background()
      .read((tx) => listDue(tx, { nodeId, whose, spared: this.damaged }));
    let queries = 0;
    for (const unit of due.slice(0, MAX_UNITS)) queries += await this.fold(unit, signal);
    return queries;
  }

  /**
   * Adds the remaining blocks of a day before the day is dropped; false if some blocks cannot be added, because another
   * node is adding them. Damaged blocks are ignored. Days count from 1970-01-01 in UTC.
   */
  async foldDay(day: number, signal?: AbortSignal): Promise<boolean> {
    const left = (): Promise<number[]> =>
      this.options.database.background().read((tx) => nodesOfUnlisted(tx, day, this.damaged));
    for (const nodeId of await left()) {
      const unit = { day, nodeId, hourMs: null };
      while ((await this.fold(unit, signal)) > 0);
    }
    return (await left()).length === 0;
  }

  /** Adds blocks of a unit; returns the number of queries added, or 0 if a retry is needed later. */
  private async fold(unit: FoldUnit, signal: AbortSignal | undefined): Promise<number> {
    const tally = new BlockTally();
    const blocks = await this.count(unit, tally, signal);
    if (blocks.length === 0 || signal?.aborted === true) return 0;
    try {
      await this.options.database.background().change(async (client) => {
        if (!(await lockLists(client, unit.nodeId)))
          throw new ChangedConcurrently('could not update the name index: another node is updating it');
        for (const key of listsOf(unit)) await this.addTo(client, key, tally);
        if (!(await markListed(client, unit, blocks)))
          throw new ChangedConcurrently('could not update the name index: its blocks were merged');
      });
      return tally.queries;
    } catch (error) {
      if (error instanceof ChangedConcurrently) return 0;
      throw error;
    }
  }

  /** Counts blocks of a unit; returns the counted blocks without their content. */
  private async count(
    unit: FoldUnit,
    tally: BlockTally,
    signal: AbortSignal | undefined,
  ): Promise<StoredBlock[]> {
    const { database } = this.options;
    const counted: StoredBlock[] = [];
    let after: BlockPlace | undefined;
    while (counted.length < MAX_BLOCKS && signal?.aborted !== true) {
      const page = { after, limit: BLOCKS_PER_FETCH };
      const blocks = await database.background().read((tx) => fetchUnlisted(tx, unit, page));
      for (const block of blocks)
        if (await this.countBlock(block, tally)) counted.push(withoutContent(block));
      after = blocks.at(-1);
      if (blocks.length < BLOCKS_PER_FETCH) break;
    }
    return counted;
  }

  private async countBlock(block: StoredBlock, tally: BlockTally): Promise<boolean> {
    const { runId, firstSeq } = block;
    if (this.damaged.some((known) => known.runId === runId && known.firstSeq === firstSeq)) return false;
    try {
      await tally.addBlock(new BlockReader(block), nextTurn);
      await nextTurn();
      return true;
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      this.damaged.push({ runId, firstSeq });
      this.damaged.splice(0, this.damaged.length - MAX_DAMAGED);
      this.options.logger.error('skipped a damaged block while updating the name index of the query log', {
        block: `${runId}.${firstSeq}`,
        reason: reasonOf(error),
      });
      return false;
    }
  }

  private async addTo(client: LentClient, key: ListKey, tally: BlockTally): Promise<void> {
    const before = await readLists(client, key);
    const groups = new Set(tally.groups);
    const join = (table: KeyTable, list: StoredList | undefined): KeyTable =>
      this.join(table, list, key, groups);
    const names = join(tally.names, before?.names);
    const clients = join(tally.clients, before?.clients);
    await nextTurn();
    const lists = {
      queries: (before?.queries ?? 0) + tally.queries,
      names: await encodeList(names, groups),
      clients: await encodeList(clients, groups),
    };
    await writeLists(client, key, lists, { names: figuresOf(names), clients: figuresOf(clients) });
  }

  /**
   * A table with the entries of `added` and of the existing list, reduced to the limit of its granularity. Adds the
   * groups of the list to `groups`.
   */
  private join(added: KeyTable, list: StoredList | undefined, key: ListKey, groups: Set<number>): KeyTable {
    const max = this.options.maxEntries[key.grain];
    const table = new KeyTable();
    if (list !== undefined) {
      try {
        const stored = new NameList(list);
        for (const group of stored.groups) groups.add(group);
        stored.addTo(table);
      } catch (error) {
        if (!(error instanceof DamagedList)) throw error;
        this.options.logger.error(
          'a name index of the query log is damaged; creating a new one, in which earlier names are missing',
          {
            list: labelOf(key),
            reason: reasonOf(error),
          },
        );
      }
    }
    table.addTable(added);
    table.keepLargest(max, max * TEXT_BYTES);
    return table;
  }
}

function listsOf({ day, nodeId, hourMs }: FoldUnit): ListKey[] {
  const grains: readonly ListGrain[] = hourMs === null ? ['d', 'M'] : ['h', 'd', 'M'];
  return grains.map((grain) => ({ grain, nodeId, startMs: startOf(grain, hourMs ?? day * DAY_MS) }));
}

function figuresOf({ size, unseen }: KeyTable): { entries: number; unseen: number } {
  return { entries: size, unseen };
}
