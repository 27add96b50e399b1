/**
 * Removes the rows of a clear from the stored log, block by block. A few blocks at a time are changed in one
 * transaction, together with the top lists that count them and the progress of the clear. After an interruption, each
 * block is therefore either unchanged or without the rows, and the work can be repeated. Counts in statistics are kept.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database, LentClient } from '../../storage/db/database.ts';
import { DamagedBlock, type EncodedBlock } from '../block/block-layout.ts';
import { BlockReader } from '../block/block-reader.ts';
import { UsedBy } from '../block/log-block.ts';
import { cutBlock, mayTake, type RemovedRows, takesAll } from '../search/cut-block.ts';
import { nameOf } from '../sums/log-sums.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { noteRemoved } from '../store/late-rows.ts';
import { listPartitions } from '../store/partition-store.ts';
import { BlockTally } from '../top-lists/block-tally.ts';
import { type ListGrain, startOf } from '../top-lists/list-parts.ts';
import { awaitLists } from '../top-lists/name-list-store.ts';
import { subtractFromLists, type Tally } from '../top-lists/subtract-lists.ts';
import { ChangedConcurrently } from '../upkeep/changed-concurrently.ts';
import { clearDay, clearListsWithoutRows, daysWithin, takesDay } from './clear-days.ts';
import { beginPass, endClear, notePassed, type OpenClear } from './clear-store.ts';
import {
  type ClearBlock,
  deleteBlocks,
  fetchBlocks,
  insertRemainder,
  isCounted,
  listBlocks,
  type RemainderRun,
} from './cleared-blocks.ts';

/** Dependencies of a run. */
export interface ClearRunOptions {
  readonly database: Database;
  readonly logger: Logger;
}

/** A block with its replacement. */
interface Replacement {
  readonly block: ClearBlock;
  readonly left: EncodedBlock | null;
  readonly removed: RemovedRows;
  /** Counts of the removed queries; null if no top list counts the block. */
  readonly gone: Tally | null;
}

/** Maximum number of blocks, of one node and day, that are replaced in one transaction. */
const MAX_AT_ONCE = 16;
/** Number of heads of blocks that are read together. */
const MAX_HEADS = 64;
const WHOLE = ['head', 'names', 'queries', 'answers'] as const;

/** One clear in progress. */
export class ClearRun {
  private readonly options: ClearRunOptions;
  private readonly clear: OpenClear;
  private readonly signal: AbortSignal;
  private readonly runs = new Map<number, RemainderRun>();
  private readonly damaged = new Set<string>();

  constructor(options: ClearRunOptions, clear: OpenClear, signal: AbortSignal) {
    this.options = options;
    this.clear = clear;
    this.signal = signal;
  }

  /** Removes all rows of the clear; false if `signal` was aborted first. */
  async finish(): Promise<boolean> {
    const { database } = this.options;
    // Blocks that merging or another clear has changed are only found by another pass.
    while (!(await this.pass())) if (this.signal.aborted) return false;
    if (this.signal.aborted) return false;
    await clearListsWithoutRows(database, this.clear);
    await endClear(database, this.clear.id);
    return true;
  }

  /** Processes all blocks once; false if blocks changed during the pass, or `signal` was aborted. */
  private async pass(): Promise<boolean> {
    const { database } = this.options;
    const { clear } = this;
    const days = daysWithin(await listPartitions(database), clear);
    const blocks = new Map<number, ClearBlock[]>();
    for (const day of days) {
      const found = await database.background().read((tx) => listBlocks(tx, day, clear));
      blocks.set(day, found);
    }
    await beginPass(
      database,
      clear.id,
      [...blocks.values()].reduce((sum, { length }) => sum + length, 0),
    );
    let isComplete = true;
    for (const [day, ofDay] of blocks) {
      if (this.signal.aborted) return false;
      if (takesDay(clear, day)) await clearDay(database, day, clear.id, ofDay.length);
      else if (!(await this.clearBlocks(day, ofDay))) isComplete = false;
    }
    return isComplete;
  }

  private async clearBlocks(day: number, blocks: readonly ClearBlock[]): Promise<boolean> {
    let isComplete = true;
    for (let from = 0; from < blocks.length; from += MAX_HEADS) {
      const some = blocks.slice(from, from + MAX_HEADS);
      const touched = await this.withRows(some);
      await notePassed(this.options.database, this.clear.id, some.length - touched.length);
      for (const ofNode of Map.groupBy(touched, ({ nodeId }) => nodeId).values())
        for (let at = 0; at < ofNode.length; at += MAX_AT_ONCE) {
          if (this.signal.aborted) return false;
          if (!(await this.replace(day, ofNode.slice(at, at + MAX_AT_ONCE)))) isComplete = false;
        }
    }
    return isComplete;
  }

  /** The blocks that may contain rows of the client. */
  private async withRows(blocks: readonly ClearBlock[]): Promise<ClearBlock[]> {
    if (this.clear.device === null) return [...blocks];
    const { database } = this.options;
    const heads = await database.background().read((tx) => fetchBlocks(tx, blocks, ['head']));
    return heads.filter((block) => {
      try {
        return mayTake(this.clear, new BlockReader(block));
      } catch (error) {
        return this.leaveDamaged(block, error);
      }
    });
  }

  /** Replaces blocks; false if some have changed since they were listed. */
  private async replace(day: number, blocks: readonly ClearBlock[]): Promise<boolean> {
    const { database } = this.options;
    const planned: Replacement[] = [];
    for (const block of blocks) {
      const replacement = await this.plan(block);
      if (replacement === 'gone') return false;
      if (replacement !== null) planned.push(replacement);
    }
    if (planned.length === 0) {
      await notePassed(database, this.clear.id, blocks.length);
      return true;
    }
    try {
      const runs = await database
        .background()
        .change((client) => this.store(client, day, planned, blocks.length));
      for (const [runId, run] of runs) this.runs.set(runId, run);
      return true;
    } catch (error) {
      if (error instanceof ChangedConcurrently) return false;
      throw error;
    }
  }

  /** Plans the replacement of a block; null if nothing is removed from it. */
  private async plan(listed: ClearBlock): Promise<Replacement | 'gone' | null> {
    const isAll = takesAll(this.clear, listed);
    if (isAll && !isCounted(listed)) return { block: listed, left: null, removed: allOf(listed), gone: null };
    const { database } = this.options;
    const [block] = await database.background().read((tx) => fetchBlocks(tx, [listed], WHOLE));
    if (block === undefined) return 'gone';
    try {
      const cut = isAll
        ? { kept: null, removed: allOf(listed) }
        : await cutBlock(new BlockReader(block), [this.clear]);
      await nextTurn();
      if (cut === null) return null;
      const gone = isCounted(listed) ? await tallyRemoved(block, cut.kept) : null;
      return { block: listed, left: cut.kept, removed: cut.removed, gone };
    } catch (error) {
      this.leaveDamaged(listed, error);
      // Unreadable rows are not shown, and no top list counts them.
      return isAll ? { block: listed, left: null, removed: allOf(listed), gone: null } : null;
    }
  }

  /** Stores the replacements; returns the sequence numbers that the remaining rows got. */
  private async store(
    client: LentClient,
    day: number,
    planned: readonly Replacement[],
    looked: number,
  ): Promise<ReadonlyMap<number, RemainderRun>> {
    const runs = new Map<number, RemainderRun>();
    const { nodeId } = planned[0]!.block;
    // Top lists are locked before blocks, in the same order as when blocks are added to lists, to avoid a deadlock.
    await awaitLists(client, nodeId);
    const replaced = planned.map(({ block }) => block);
    if (!(await deleteBlocks(client, day, replaced)))
      throw new ChangedConcurrently(
        'could not clear the query log: its blocks were merged or indexed concurrently',
      );
    for (const { block, left } of planned) {
      if (left === null) continue;
      const { key, nextSeq } = runs.get(block.runId) ?? this.runs.get(block.runId) ?? newRun();
      const place = { key, firstSeq: nextSeq };
      runs.set(block.runId, { key, nextSeq: await insertRemainder(client, block, left, place) });
    }
    await this.subtract(client, planned, { day, nodeId });
    await noteRemoved(client, this.clear.id, sumOf(planned), looked);
    return runs;
  }

  private async subtract(
    client: LentClient,
    planned: readonly Replacement[],
    { day, nodeId }: { day: number; nodeId: number },
  ): Promise<void> {
    const counted = planned.filter(({ gone }) => gone !== null);
    const take = async (grain: ListGrain, atMs: number, from: readonly Replacement[]): Promise<void> => {
      const sum = new BlockTally();
      for (const { gone } of from) {
        sum.names.addTable(gone!.names);
        sum.clients.addTable(gone!.clients);
        sum.queries += gone!.queries;
      }
      await subtractFromLists(client, { grain, nodeId, startMs: startOf(grain, atMs) }, sum);
      await nextTurn();
    };
    if (counted.length === 0) return;
    const ofHours = counted.filter(({ block }) => block.listed === 'h');
    for (const [hourUs, ofHour] of Map.groupBy(ofHours, ({ block }) => block.hourUs))
      await take('h', hourUs / 1000, ofHour);
    for (const grain of ['d', 'M'] as const) await take(grain, day * DAY_MS, counted);
  }

  private leaveDamaged(block: ClearBlock, error: unknown): false {
    if (!(error instanceof DamagedBlock)) throw error;
    const name = nameOf(block);
    if (!this.damaged.has(name))
      this.options.logger.error('could not clear a part of the query log: a block is damaged', {
        block: name,
        reason: reasonOf(error),
      });
    this.damaged.add(name);
    return false;
  }
}

/** Counts of the removed queries of a block, to be subtracted from top lists. */
async function tallyRemoved(block: EncodedBlock, left: EncodedBlock | null): Promise<Tally> {
  const gone = new BlockTally();
  await gone.addBlock(new BlockReader(block), nextTurn);
  if (left === null) return gone;
  const kept = new BlockTally();
  await kept.addBlock(new BlockReader(left), nextTurn);
  gone.names.subtractTable(kept.names);
  gone.clients.subtractTable(kept.clients);
  gone.queries -= kept.queries;
  return gone;
}

function newRun(): RemainderRun {
  return { key: randomUUID(), nextSeq: 0 };
}

function allOf({ rowCount, firstUs, lastUs }: EncodedBlock): RemovedRows {
  return { rows: rowCount, firstUs, lastUs };
}

/** Total of the removed rows, without those that the log does not show. */
function sumOf(planned: readonly Replacement[]): RemovedRows {
  const shown = planned.filter(({ block, removed }) => block.usedBy !== UsedBy.STATS && removed.rows > 0);
  return {
    rows: shown.reduce((sum, { removed }) => sum + removed.rows, 0),
    firstUs: shown.reduce((min, { removed }) => Math.min(min, removed.firstUs), Number.MAX_SAFE_INTEGER),
    lastUs: shown.reduce((max, { removed }) => Math.max(max, removed.lastUs), 0),
  };
}
