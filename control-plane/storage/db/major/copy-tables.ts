/**
 * First part of a major upgrade: all tables but the days of the query log, from one server into another one that is
 * empty, in one transaction. That is the policy, the users, the counts and the lists of names, so that everything but
 * rows of the log is there when it is done.
 */
import { escapeIdentifier } from 'pg';
import { copyAcross, type CopyEnds } from '../copy/copy-across.ts';
import { foreignTo, listTables, sequencesAsSql } from './relations.ts';

/** Options in addition to the connections. */
export interface CopyTablesOptions {
  /** Brings a database to the schema of this Weir. */
  readonly migrate: (client: CopyEnds['from']) => Promise<unknown>;
  /** Throws if the disk does not have that many free bytes. */
  readonly checkRoom: (sizeBytes: number) => Promise<void>;
  /** Called with the next table. */
  readonly report: (table: string) => void;
}

/** Weir cannot move this database; the message explains what an administrator can do. */
export class NotMovable extends Error {
  override readonly name = 'NotMovable';
}

/** Copies the tables and proves it. */
export async function copyTables(ends: CopyEnds, options: CopyTablesOptions): Promise<void> {
  const { from, to } = ends;
  await options.migrate(from);
  await options.migrate(to);
  const foreign = await foreignTo(to, from);
  if (foreign.length > 0)
    throw new NotMovable(`not made by Weir, and would be lost: ${foreign.join('; ')}; remove or move these`);
  const tables = await listTables(from);
  await options.checkRoom(tables.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  // Triggers and foreign keys have done their part already.
  await to.query('BEGIN; SET LOCAL session_replication_role = replica');
  // Tables that are emptied and filled in one transaction are not written to the WAL.
  await to.query(`TRUNCATE ${tables.map(({ name }) => escapeIdentifier(name)).join(', ')}`);
  for (const { name, route } of tables) {
    options.report(name);
    await copyAcross(ends, { from: route, to: route });
  }
  await to.query(await sequencesAsSql(from));
  await to.query('COMMIT');
  await to.query('ANALYZE');
}
