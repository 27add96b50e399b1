/**
 * Queries of two nodes on three past days: stored, summarised and merged as maintenance does, and also counted directly
 * for comparison.
 */
import { BlockGatherer, DAY_MS } from '../../../control-plane/query-log/store/block-gatherer.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { startOf } from '../../../control-plane/query-log/top-lists/list-parts.ts';
import { storeBlock } from '../../../control-plane/query-log/store/block-store.ts';
import { MergeUpkeep } from '../../../control-plane/query-log/upkeep/merge-upkeep.ts';
import { NameFolding } from '../../../control-plane/query-log/upkeep/name-folding.ts';
import { isBlockedStatus, type QueryStatusCode } from '../../../shared/query-log.ts';
import { logRow, wireName } from './log-row.ts';
import { MemoryLogger } from './memory-logger.ts';
import { batchesOf, emptyLog } from './stored-log.ts';

/** The first day, in days since the epoch: the last day of a past month. */
export const FIRST_DAY = startOf('M', startOf('M', Date.now()) - 1) / DAY_MS - 1;
/** Start of the first day, Unix milliseconds. */
export const FIRST_DAY_MS = FIRST_DAY * DAY_MS;

/** A query. */
export interface DayRow {
  readonly timeMs: number;
  readonly node: number;
  readonly name: number;
  readonly client: number;
  readonly status: QueryStatusCode;
}

/** A step of the maintenance. */
export interface UpkeepStep {
  readonly what: 'fold' | 'fold both' | 'merge' | 'fold day';
  readonly node: number;
  /** Index of the day, from 0. */
  readonly day: number;
}

/** The group of its client. */
export function groupOf({ client }: Pick<DayRow, 'client'>): number {
  return 1 + (client % 3);
}

/** A log with rows on several days. */
export class LogOfDays {
  private readonly database: Database;
  private readonly gatherers = new Map<number, BlockGatherer>();

  constructor(database: Database) {
    this.database = database;
  }

  async empty(): Promise<void> {
    await emptyLog(this.database);
    this.gatherers.clear();
  }

  /** Stores rows of one hour as a block. */
  async store(node: number, rows: readonly DayRow[]): Promise<void> {
    const gatherer = this.gatherers.get(node) ?? new BlockGatherer();
    this.gatherers.set(node, gatherer);
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
      await storeBlock(this.database, batch, { nodeId: node, durable: false });
  }

  folding(nodeId: number): NameFolding {
    return new NameFolding({ logger: new MemoryLogger(), database: this.database, nodeId });
  }

  async keep({ what, node, day }: UpkeepStep): Promise<void> {
    if (what === 'fold') await this.folding(node).turn('own-and-ended');
    else if (what === 'fold both')
      await Promise.all([7, 8, node].map((nodeId) => this.folding(nodeId).turn('own-and-ended')));
    else if (what === 'merge')
      await new MergeUpkeep({ logger: new MemoryLogger(), database: this.database, nodeId: node }).turn(
        'own-and-ended',
      );
    else await this.folding(node).foldDay(FIRST_DAY + day);
  }
}

/** Counts by name and by client, in the form of `sumNames()` and `sumClients()`. */
export interface PlainCounts {
  readonly names: unknown;
  readonly clients: unknown;
  readonly isEstimate: boolean;
}

/** The counts of all rows. */
export function countPlainly(rows: readonly DayRow[]): PlainCounts {
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
