/**
 * Merges small blocks of the query log into large ones in the background. Only adjacent blocks of one run and one hour
 * are merged. Each node merges its own blocks; one node at a time also merges blocks of runs that ended long ago.
 * Counts and `query_runs` do not change.
 */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Database } from '../../storage/db/database.ts';
import { DamagedBlock, type EncodedBlock } from '../block/block-layout.ts';
import { mergeBlocks } from '../block/merge-blocks.ts';
import { listPartitions } from '../store/partition-store.ts';
import { type BlocksOf, ChangedConcurrently } from './changed-concurrently.ts';
import { cutNeighbours, listNeighbours, type Neighbours, readParts, replaceParts } from './small-blocks.ts';

export interface MergeUpkeepOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** `nodeIdOf(server.node_name)` */
  readonly nodeId: number;
}

/** Maximum number of merges per turn; each takes about 100 ms. */
const MAX_MERGES = 32;
/**
 * Number of newest days that are checked in every turn: yesterday, today and the next two. Of the older days, only one
 * is checked per turn.
 */
const NEW_DAYS = 4;
/** Maximum number of damaged blocks that are remembered. */
const MAX_DAMAGED = 1000;

interface DamagedPlace {
  readonly runId: number;
  readonly firstSeq: number;
}

/** Merges blocks. */
export class MergeUpkeep {
  private readonly options: MergeUpkeepOptions;
  /** Blocks that cannot be read; they are skipped. */
  private readonly damaged: DamagedPlace[] = [];
  private turns = 0;

  constructor(options: MergeUpkeepOptions) {
    this.options = options;
  }

  /** Merges blocks, within limits, until `signal` is aborted; returns the number of blocks created. */
  async turn(whose: BlocksOf, signal?: AbortSignal): Promise<number> {
    let merges = 0;
    for (const day of await this.daysOfTurn()) {
      for (const parts of await this.neighboursOf(day, whose, MAX_MERGES - merges)) {
        if (signal?.aborted === true) return merges;
        if (await this.merge(parts)) merges++;
      }
    }
    return merges;
  }

  private async daysOfTurn(): Promise<number[]> {
    const days = await listPartitions(this.options.database);
    const older = days.slice(0, -NEW_DAYS);
    const one = older[this.turns++ % Math.max(older.length, 1)];
    return [...days.slice(-NEW_DAYS), ...(one === undefined ? [] : [one])];
  }

  private async neighboursOf(day: number, whose: BlocksOf, limit: number): Promise<Neighbours[]> {
    const { database, nodeId } = this.options;
    if (limit === 0) return [];
    const request = { day, nodeId, whose, spared: this.damaged, limit };
    const chains = await database.background().read((tx) => listNeighbours(tx, request));
    return chains.flatMap(cutNeighbours).slice(0, limit);
  }

  /** Merges adjacent blocks into one; returns false on failure. */
  private async merge(parts: Neighbours): Promise<boolean> {
    const { database } = this.options;
    const blocks = await database.background().read((tx) => readParts(tx, parts));
    if (blocks.length !== parts.firstSeqs.length) return false;
    try {
      const merged = await mergeBlocks(blocks);
      await database.background().change((client) => replaceParts(client, parts, merged));
      return true;
    } catch (error) {
      if (error instanceof DamagedBlock) await this.noteDamaged(parts, blocks);
      else if (!(error instanceof ChangedConcurrently)) throw error;
      return false;
    }
  }

  private async noteDamaged(
    { runId, firstSeqs }: Neighbours,
    blocks: readonly EncodedBlock[],
  ): Promise<void> {
    for (const [index, block] of blocks.entries()) {
      try {
        await mergeBlocks([block]);
      } catch (error) {
        const firstSeq = firstSeqs[index]!;
        this.damaged.push({ runId, firstSeq });
        this.options.logger.error('skipped a damaged block while merging blocks of the query log', {
          block: `${runId}.${firstSeq}`,
          reason: reasonOf(error),
        });
      }
    }
    this.damaged.splice(0, this.damaged.length - MAX_DAMAGED);
  }
}
