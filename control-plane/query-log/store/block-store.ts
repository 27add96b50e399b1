/**
 * Stores blocks of the query log together with their counts for statistics. Each block is stored exactly once, however
 * often it is sent.
 */
import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Database } from '../../storage/db/database.ts';
import { inTransaction } from '../../storage/db/transaction.ts';
import type { EncodedBlock } from '../block/block-layout.ts';
import { blockFromBytes, type LogBlock, UsedBy, type UsedByCode } from '../block/log-block.ts';
import { DAY_MS } from './block-gatherer.ts';
import type { CutBlock } from '../search/cut-block.ts';
import { addCounts } from './counts-store.ts';
import { cutLateRows } from './late-rows.ts';
import type { LogBatch } from './log-batch.ts';
import { ensurePartitions, partitionOf } from './partition-store.ts';

/** How a block is stored. */
export interface BlockDurability {
  /**
   * The node for which the block is stored, unless the database knows that its run belongs to another node, because the
   * spool was copied from there.
   */
  readonly nodeId: number;
  /**
   * If true, the commit waits until the data is on disk; needed for a block whose only other copy will then be deleted.
   * If false, the block may be lost if the database server is killed within 0.6 s.
   */
  readonly durable: boolean;
  /** The next sequence number of the run, if known: lower numbers without rows count as lost rows. */
  readonly nextSeq?: number;
}

/** The database, as used in a thread that may not create tables. */
export interface BlockDatabase extends Pick<Database, 'onStatus' | 'status' | 'withClient'> {
  /** Creates the missing partitions of these days, counted from 1970-01-01 in UTC. */
  makeDays(days: readonly number[]): Promise<void>;
}

/** NOTIFY channel that announces each stored block of the log, see `blockNotice()`. */
export const BLOCK_CHANNEL = 'weir_query_blocks';

/** SQLSTATE of a partition that does not exist. */
const UNDEFINED_TABLE = '42P01';
/** SQL of the WAL timeline: after a failover, the promoted server writes its WAL on a new timeline. */
const TIMELINE = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)';

/** Outcome of storing a block. */
export interface StoredBlock {
  /** Id of the block's run. */
  readonly runId: number;
  /** Id of the node to which that run belongs. */
  readonly nodeId: number;
  /** False if the block was already stored. */
  readonly isNew: boolean;
  /** Timeline of the server's WAL. */
  readonly timeline: string;
  /** Whether some rows of the block were removed, because of a clear that was requested before the block arrived. */
  readonly isCut?: boolean;
}

/** Error for a block of which only some rows are already stored; Weir never sends such a block. */
export class OverlappingBlock extends Error {
  override readonly name = 'OverlappingBlock';
}

/**
 * Stores one block in one transaction and notifies all nodes, or finds that it is already stored. @throws
 * {DatabaseUnavailable} if the outcome is unknown; sending it again is safe @throws {DamagedBlock}, {OverlappingBlock}
 * and data errors of the database: this block cannot be stored
 */
export async function storeBlock(
  database: BlockDatabase | Database,
  { bytes }: LogBatch,
  how: BlockDurability,
): Promise<StoredBlock> {
  const block = blockFromBytes(bytes);
  try {
    return await insertBlock(database, block, how);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE)) throw error;
    const days = [dayOf(block)];
    await ('makeDays' in database ? database.makeDays(days) : ensurePartitions(database, days));
    return insertBlock(database, block, how);
  }
}

/** Days since 1970-01-01 in UTC. */
function dayOf({ hourUs }: EncodedBlock): number {
  return Math.floor(hourUs / 1000 / DAY_MS);
}

async function insertBlock(
  database: Pick<Database, 'withClient'>,
  block: LogBlock,
  { durable, ...how }: BlockDurability,
): Promise<StoredBlock> {
  const work = async (client: PoolClient): Promise<StoredBlock> => {
    const stored = await addBlock(client, block, how);
    if (stored.isNew && stored.isCut !== true && block.part?.usedBy !== UsedBy.STATS)
      await client.query({
        name: 'notify-block',
        text: 'SELECT pg_notify($1, $2)',
        values: [BLOCK_CHANNEL, blockNotice(stored.runId, block)],
      });
    return stored;
  };
  return database.withClient((client) =>
    inTransaction(
      client,
      () => work(client),
      `BEGIN; SET LOCAL synchronous_commit = ${durable ? 'on' : 'off'}`,
    ),
  );
}

/**
 * Stores a block and its counts as part of the caller's transaction, unless the block is already stored. @throws
 * {OverlappingBlock}
 */
export async function addBlock(
  client: PoolClient,
  block: LogBlock,
  how: Omit<BlockDurability, 'durable'>,
): Promise<StoredBlock> {
  const stored = await noteStored(client, block, { nodeId: how.nodeId, nextSeq: how.nextSeq ?? 0 });
  if (!stored.isNew) return stored;
  const { nodeId } = stored;
  const usedBy = block.part?.usedBy ?? UsedBy.BOTH;
  // Top lists must not count queries that are only logged, so the block is marked as already counted.
  const listed = usedBy === UsedBy.LOG ? 'h' : null;
  const cut = await cutLateRows(client, block);
  const left = cut === null ? block : cut.kept;
  if (left !== null) {
    const place = await placeOfRemainder(client, block, cut, stored);
    await insertRow(client, left, { ...place, nodeId, usedBy, listed });
  }
  await addCounts(client, nodeId, block.minutes);
  return cut === null ? stored : { ...stored, isCut: true };
}

/**
 * Run and first sequence number of the remaining rows. They are the old ones if the rows can keep their numbers, or new
 * ones: a number that a user has seen must never refer to another row.
 */
async function placeOfRemainder(
  client: PoolClient,
  { firstSeq, part }: LogBlock,
  cut: CutBlock | null,
  { runId, nodeId }: StoredBlock,
): Promise<Pick<BlockIdentity, 'runId' | 'firstSeq'>> {
  if (cut === null) return { runId, firstSeq };
  if (cut.isPrefix) return { runId, firstSeq: firstSeq + cut.removed.rows };
  const others = { runKey: randomUUID(), part, firstSeq: 0, rowCount: cut.kept!.rowCount };
  return { runId: (await noteStored(client, others, { nodeId, nextSeq: 0 })).runId, firstSeq: 0 };
}

/** Content of the notification about a stored block. */
export interface BlockNotice {
  readonly runKey: string;
  readonly runId: number;
  readonly firstSeq: number;
  readonly rowCount: number;
  /** Start of the hour, in microseconds since 1970. */
  readonly hourUs: number;
}

/** Payload of the notification about a stored block. */
function blockNotice(runId: number, { runKey, firstSeq, rowCount, hourUs }: LogBlock): string {
  return JSON.stringify([runKey, runId, firstSeq, rowCount, hourUs]);
}

/** Parses the payload of a notification; null if Weir did not send it. */
export function readBlockNotice(payload: string): BlockNotice | null {
  try {
    const [runKey, ...numbers] = JSON.parse(payload) as [string, ...number[]];
    if (numbers.length !== 4 || !numbers.every(Number.isSafeInteger)) return null;
    const [runId, firstSeq, rowCount, hourUs] = numbers as [number, number, number, number];
    return { runKey, runId, firstSeq, rowCount, hourUs };
  } catch {
    return null;
  }
}

/** This run of the process. */
export interface OwnRun {
  readonly key: string;
  /** Id in the database; null until it is known. */
  id: number | null;
}

/** Assigns an id to a run before its first block is stored. @throws {DatabaseUnavailable} */
export async function numberRun(database: Database, run: OwnRun, nodeId: number): Promise<void> {
  const { rows } = await database.query<{ id: number }>(
    `INSERT INTO query_runs AS run (key, node_id) VALUES ($1, $2)
     ON CONFLICT (key) DO UPDATE SET last_at = run.last_at RETURNING id`,
    [run.key, nodeId],
  );
  run.id = rows[0]!.id;
}

/** The run of a block and the sequence number of its first row. */
export interface BlockIdentity {
  readonly runId: number;
  readonly firstSeq: number;
  readonly nodeId: number;
  readonly usedBy: UsedByCode;
  /** The top lists that already count the block (migrations/0001_schema.sql). */
  readonly listed?: string | null;
}

/** Inserts a block without its counts. */
export async function insertRow(
  client: PoolClient,
  block: EncodedBlock,
  identity: BlockIdentity,
): Promise<void> {
  await client.query({
    name: `store-block-${partitionOf(dayOf(block))}`,
    text: `INSERT INTO ${partitionOf(dayOf(block))}
       (day, run_id, first_seq, row_count, node_id, hour, first_time, last_time, lengths, checksums,
        head, names, queries, answers, listed, repeats, used_by)
     VALUES ($1, $2, $3, $4, $5, ${moment(6)}, ${moment(7)}, ${moment(8)}, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    values: [
      new Date(dayOf(block) * DAY_MS).toISOString().slice(0, 10),
      identity.runId,
      identity.firstSeq,
      block.rowCount,
      identity.nodeId,
      block.hourUs,
      block.firstUs,
      block.lastUs,
      block.lengths,
      block.checksums,
      block.head,
      block.names,
      block.queries,
      block.answers,
      identity.listed ?? null,
      block.repeats,
      identity.usedBy,
    ],
  });
}

/** SQL that converts parameter number `place`, in microseconds since 1970, to a timestamp. */
function moment(place: number): string {
  return `'epoch'::timestamptz + $${place}::bigint * interval '1 microsecond'`;
}

/** Marks the sequence numbers of the rows as stored; returns whether they were new. @throws {OverlappingBlock} */
export async function noteStored(
  client: PoolClient,
  { runKey, part, firstSeq, rowCount }: Pick<LogBlock, 'runKey' | 'part' | 'firstSeq' | 'rowCount'>,
  { nodeId, nextSeq }: { nodeId: number; nextSeq: number },
): Promise<StoredBlock> {
  const endSeq = firstSeq + rowCount;
  const { rows } = await client.query<{ id: number; node_id: number; timeline: string }>({
    name: 'note-stored',
    text: `INSERT INTO query_runs AS run (key, node_id, last_seq, next_seq, stored, part_of)
       VALUES ($1, $2, $4::bigint - 1, greatest($4, $5::bigint), int8multirange(int8range($3, $4)), $6)
       ON CONFLICT (key) DO UPDATE SET stored = run.stored + excluded.stored, last_at = now(),
         last_seq = greatest(run.last_seq, excluded.last_seq),
         next_seq = greatest(run.next_seq, excluded.next_seq)
       WHERE NOT run.stored && excluded.stored
       RETURNING id, node_id, ${TIMELINE} AS timeline`,
    values: [runKey, nodeId, firstSeq, endSeq, nextSeq, part?.of ?? null],
  });
  const [noted] = rows;
  if (noted !== undefined)
    return { runId: noted.id, nodeId: noted.node_id, isNew: true, timeline: noted.timeline };
  const known = await client.query<{ id: number; node_id: number; is_stored: boolean; timeline: string }>(
    `SELECT id, node_id, stored @> int8range($2, $3) AS is_stored, ${TIMELINE} AS timeline FROM query_runs WHERE key = $1`,
    [runKey, firstSeq, endSeq],
  );
  const run = known.rows[0];
  if (run?.is_stored === true)
    return { runId: run.id, nodeId: run.node_id, isNew: false, timeline: run.timeline };
  throw new OverlappingBlock(
    `could not store block ${runKey}.${firstSeq}: some of its rows are already stored`,
  );
}

/** Deletes runs that can no longer send blocks and whose blocks were deleted together with their days. */
export async function deleteOldRuns(database: Database, before: Date): Promise<void> {
  await database.query(
    'DELETE FROM query_runs AS run WHERE last_at < $1 AND NOT EXISTS (SELECT FROM query_blocks WHERE run_id = run.id)',
    [before],
  );
}
