/**
 * First part of a major upgrade: copies all tables except the days of the query log from one server to an empty one, in
 * one transaction. These tables include policy, users, counts and top lists, so that afterwards only rows of the log
 * are missing.
 */
import { escapeIdentifier } from 'pg';
import { copyAcross, type CopyEnds } from '../copy/copy-across.ts';
import { foreignTo, listTables, sequencesAsSql } from './relations.ts';

/** Options in addition to the connections. */
export interface CopyTablesOptions {
  /** Upgrades a database to the schema of this release. */
  readonly migrate: (client: CopyEnds['from']) => Promise<unknown>;
  /** Throws if the disk does not have this much free space. */
  readonly checkFreeSpace: (sizeBytes: number) => Promise<void>;
  /** Called with the next table. */
  readonly report: (table: string) => void;
}

/** Error: Weir cannot move this database. The message explains what an administrator can do. */
export class NotMovable extends Error {
  override readonly name = 'NotMovable';
}

/** Copies the tables and verifies the copy. */
export async function copyTables(ends: CopyEnds, options: CopyTablesOptions): Promise<void> {
  const { from, to } = ends;
  await options.migrate(from);
  await options.migrate(to);
  const foreign = await foreignTo(to, from);
  if (foreign.length > 0)
    throw new NotMovable(
      `tables and other objects that Weir did not create would be lost: ${foreign.join('; ')}; remove or ` +
        'move them',
    );
  const tables = await listTables(from);
  await options.checkFreeSpace(tables.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  // Disables triggers and checks of foreign keys, because they have already run at the source.
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
