/**
 * Writes each finished day of the query log, of all nodes, to a Parquet file in a folder. One node at a time writes
 * files, and stores the number of rows of each file in the database. A day is written again if its number of rows has
 * changed: a node that was disconnected may add rows, and a clear may remove some. A file becomes visible when it is
 * complete, and is deleted when all rows of its day were cleared.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { JobLeases, Lease } from '../../storage/cluster/leases.ts';
import type { Database } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { streamDurably } from '../../host/files/durable-file.ts';
import { ExportFormats } from '../reading/export-formats.ts';
import type { QueryLogReader } from '../reading/query-log-reader.ts';

export interface DayExportOptions {
  readonly database: Database;
  readonly jobs: Pick<JobLeases, 'hold'>;
  readonly queryLog: Pick<QueryLogReader, 'rows'>;
  /** `database.export_dir`; empty = no export. Called for each run. */
  readonly folder: () => string;
  readonly logger: Logger;
}

/** A day that is due for export. */
interface DueDay {
  /** `2026-07-05`, in UTC */
  readonly day: string;
  readonly rows: number;
}

const DAY_MS = 86_400_000;
/** File mode: users in the group of Weir's user can read the file. */
const MODE = 0o640;
/** Prefix of the keys in table `meta` that contain the number of exported rows of a day. */
const MARK = 'exported:';
/**
 * SQL of the days that are due. A day is due some time after its end, so that the last rows of all nodes have arrived.
 */
const DUE = `SELECT day::text, rows FROM (
    SELECT day, sum(row_count)::bigint AS rows FROM query_blocks
    WHERE used_by <> 's' AND (day + 1) AT TIME ZONE 'UTC' + interval '30 minutes' < now() GROUP BY day
  ) AS finished LEFT JOIN meta ON key = $1 || day WHERE value IS DISTINCT FROM to_jsonb(rows) ORDER BY day`;
const NOTE = `INSERT INTO meta (key, value) VALUES ($1, to_jsonb($2::bigint))
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now()`;
/**
 * SQL of exported days of which all rows were cleared: either the whole day, or client by client if the log still has
 * older days.
 */
const CLEARED = `SELECT exported.day::text FROM (
    SELECT substr(key, length($1) + 1)::date AS day FROM meta WHERE starts_with(key, $1)
  ) AS exported, LATERAL (SELECT exported.day::timestamp AT TIME ZONE 'UTC' AS start) AS begin
  WHERE NOT EXISTS (SELECT FROM query_blocks AS b WHERE b.day = exported.day AND used_by <> 's')
    AND EXISTS (SELECT FROM query_log_clears
      WHERE client_id IS NULL AND (from_time IS NULL OR from_time <= start) AND to_time >= start + interval '1 day'
        OR exported.day >= (SELECT min(day) FROM query_blocks) AND first_time < start + interval '1 day' AND last_time >= start)
  ORDER BY day`;
const DELETE_MARKS = `DELETE FROM meta WHERE starts_with(key, $1) AND key < $1 || (SELECT min(day) FROM query_blocks)`;

/** Exports days. */
export class DayExport {
  private readonly options: DayExportOptions;
  private lastTrouble: string | null = null;
  private failed = 0;

  constructor(options: DayExportOptions) {
    this.options = options;
  }

  /** Reason why days are not written here; null if there is no problem or no export is configured. */
  trouble(): string | null {
    return this.options.folder() === '' ? null : this.lastTrouble;
  }

  /** Number of failed runs. */
  failures(): number {
    return this.failed;
  }

  /**
   * Exports the days that are due, until `signal` is aborted. Throws on failure; `trouble()` then returns the reason.
   */
  async turn(signal: AbortSignal): Promise<void> {
    const folder = this.options.folder();
    if (folder === '') return;
    try {
      await this.options.jobs.hold('export the query log', (lease) =>
        this.exportDays(folder, { ...lease, signal: AbortSignal.any([lease.signal, signal]) }),
      );
      // Either the export is done here, or another node is exporting and reports problems itself.
      this.lastTrouble = null;
    } catch (error) {
      // A lost database is reported elsewhere, and stopping the node is not a failure.
      if (!signal.aborted && !(error instanceof DatabaseUnavailable)) {
        this.failed++;
        this.lastTrouble = `could not export finished days of the query log: ${reasonOf(error)}`;
      }
      throw error;
    }
  }

  private async exportDays(folder: string, lease: Lease): Promise<void> {
    const { database } = this.options;
    // The directory is created even if no day is due, so that a failure to create it is reported immediately.
    await mkdir(folder, { recursive: true });
    const due = await database.background().read((tx) => tx.query<DueDay>(DUE, [MARK]));
    for (const day of due.rows) {
      if (lease.signal.aborted) return;
      await this.exportDay(folder, day, lease);
    }
    await this.removeCleared(folder, lease);
    await database.query(DELETE_MARKS, [MARK]);
  }

  private async removeCleared(folder: string, lease: Lease): Promise<void> {
    const { database, logger } = this.options;
    const { rows } = await database.query<{ day: string }>(CLEARED, [MARK]);
    for (const { day } of rows) {
      if (lease.signal.aborted) return;
      const file = fileOf(folder, day);
      await rm(file, { force: true });
      await database.query('DELETE FROM meta WHERE key = $1', [MARK + day]);
      logger.info(
        'deleted the exported file of a day, because rows of that day were cleared from the query log',
        { file },
      );
    }
  }

  private async exportDay(folder: string, { day, rows }: DueDay, lease: Lease): Promise<void> {
    const { database, logger } = this.options;
    const file = fileOf(folder, day);
    await streamDurably(file, this.parquetOf(day, lease.signal), MODE);
    await database.transaction(async (tx) => {
      await lease.confirm(tx);
      await tx.query(NOTE, [MARK + day, rows]);
    });
    logger.info('exported a day of the query log', { file, rows });
  }

  private async *parquetOf(day: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const from = new Date(day);
    const to = new Date(from.getTime() + DAY_MS);
    const writer = await ExportFormats.parquet.open();
    for await (const rows of this.options.queryLog.rows({ from, to }, signal)) yield writer.add(rows);
    signal.throwIfAborted();
    yield writer.end();
  }
}

function fileOf(folder: string, day: string): string {
  return join(folder, `weir-queries-${day}.parquet`);
}
