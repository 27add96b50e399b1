/**
 * Second part of a major upgrade: copies the days of the query log, the newest first, into the database, which is in
 * use at the same time. One transaction copies and verifies a day and records that it was copied; only then is the day
 * dropped at its source. An interruption therefore never loses or duplicates rows, and at most one day is on the disk
 * twice.
 */
import { escapeIdentifier } from 'pg';
import { copyAcross, type CopyEnds } from '../copy/copy-across.ts';
import { listPartitions, type Partition } from './relations.ts';
import type { CopyTablesOptions } from './copy-tables.ts';

/** The days that remain to be copied. */
export interface DaysLeft {
  readonly days: number;
  readonly sizeBytes: number;
}

/** Options in addition to the connections. */
export interface CopyDaysOptions extends Pick<CopyTablesOptions, 'migrate' | 'checkFreeSpace'> {
  readonly report: (left: DaysLeft) => void;
}

/**
 * Amount of data that a session writes before the system starts to flush it to disk. It is small, because the log is
 * written at the same time.
 */
const WRITE_BACK = '1MB';
/** Table to which a day is copied before it becomes a partition of the log. */
const STAGE = 'query_day_moved';

/** Moves every day. */
export async function copyDays(
  ends: CopyEnds,
  { migrate, checkFreeSpace, report }: CopyDaysOptions,
): Promise<void> {
  const { from, to } = ends;
  await migrate(from);
  await migrate(to);
  await to.query(`SET backend_flush_after = '${WRITE_BACK}'`);
  const mark = await markOf(ends);
  const days = await listPartitions(from);
  for (const [index, day] of days.entries()) {
    const rest = days.slice(index);
    report({ days: rest.length, sizeBytes: rest.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) });
    if (!(await isMoved(ends, mark + day.name))) {
      await checkFreeSpace(day.sizeBytes);
      await copyDay(ends, day, mark + day.name);
    }
    await from.query(`DROP TABLE ${escapeIdentifier(day.name)}`);
  }
  await to.query('DELETE FROM meta WHERE starts_with(key, $1)', [mark]);
}

/** Prefix of the keys in `meta` that record which days of this cluster were copied. */
async function markOf({ from }: CopyEnds): Promise<string> {
  const { rows } = await from.query<{ id: string }>(
    'SELECT system_identifier::text AS id FROM pg_control_system()',
  );
  return `moved:${rows[0]!.id}:`;
}

async function isMoved({ to }: CopyEnds, key: string): Promise<boolean> {
  const { rows } = await to.query('SELECT FROM meta WHERE key = $1', [key]);
  return rows.length > 0;
}

async function copyDay(ends: CopyEnds, day: Partition, key: string): Promise<void> {
  const { to } = ends;
  const [name, parent] = [escapeIdentifier(day.name), escapeIdentifier(day.parent)];
  await to.query('BEGIN');
  // A table that is created and filled in one transaction is not written to the WAL.
  await to.query(`CREATE TABLE ${STAGE} (LIKE ${parent} INCLUDING ALL)`);
  await copyAcross(ends, { from: day.route, to: day.route.replace(name, STAGE) });
  const { rows } = await to.query('SELECT WHERE to_regclass($1) IS NOT NULL', [name]);
  if (rows.length > 0) {
    await to.query(`INSERT INTO ${parent} SELECT * FROM ${STAGE}; DROP TABLE ${STAGE}`);
  } else {
    await to.query(`ALTER TABLE ${STAGE} RENAME TO ${name}`);
    await to.query(`ALTER TABLE ${parent} ATTACH PARTITION ${name} ${day.bound}`);
  }
  await to.query(`INSERT INTO meta (key, value) VALUES ($1, 'true')`, [key]);
  await to.query('COMMIT');
}
