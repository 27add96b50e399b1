// A real Weir server whose database gets a generated log of several days before the measurement.
import { join } from 'node:path';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { runAsOwner, withDatabase } from '../../support/parts/made-cluster.ts';
import { ROOT } from '../bench.ts';
import { type Contestant, weirContestant } from '../servers/server-table.ts';
import type { WeirVariant } from '../servers/weir.ts';
import { keepAsUpkeep, type MadeUpLog, makeRows, storeMadeUpLog } from './made-up-log.ts';

const MIB = 2 ** 20;

/** Writes the log and its top lists to Weir's database, as maintenance would have left them. */
async function fill(dataDir: string, made: MadeUpLog): Promise<void> {
  // Runs before the database is open, because it blocks the event loop for seconds, and the liveness check would fail.
  const rows = makeRows(made);
  await withDatabase(dataDir, '', async (database) => {
    const blocks = await storeMadeUpLog(database, rows, made);
    const nodeIds = Array.from({ length: made.nodes }, (_, i) => i + 1);
    await keepAsUpkeep(database, { nodeIds, days: made.days });
    // In normal operation, a day's counts reuse the space of deleted counts. Here, all counts were inserted before any
    // were deleted, so VACUUM must free the space.
    await runAsOwner(dataDir, ['VACUUM FULL query_counts', 'VACUUM ANALYZE']);
    console.log(`${made.queries} queries of ${made.nodes} nodes, ${made.days} days, in ${blocks} blocks`);
    await printSizes(database, made);
  });
}

async function printSizes(database: Database, { queries, days }: MadeUpLog): Promise<void> {
  const { rows } = await database.query<{ what: string; bytes: number }>(
    `SELECT 'blocks' AS what, sum(pg_total_relation_size(inhrelid))::bigint AS bytes
     FROM pg_inherits WHERE inhparent = 'query_blocks'::regclass
     UNION ALL SELECT 'lists of names', pg_total_relation_size('query_names')
     UNION ALL SELECT 'counts', pg_total_relation_size('query_counts')
     UNION ALL SELECT 'the whole database', pg_database_size(current_database())`,
  );
  for (const { what, bytes } of rows)
    console.log(
      `${what.padEnd(20)}${(bytes / MIB).toFixed(1).padStart(9)} MiB` +
        `${(bytes / queries).toFixed(2).padStart(9)} bytes a query${(bytes / days / 1024).toFixed(0).padStart(9)} KiB a day`,
    );
}

/** Weir, whose log is filled between its first run and the measured start. */
export function filledWeir(made: MadeUpLog, variant: WeirVariant = { name: 'weir-log' }): Contestant {
  const { server, installed } = weirContestant(ROOT, variant);
  return {
    installed,
    server: {
      ...server,
      firstRun: async (environment, launch) => {
        await server.firstRun?.(environment, launch);
        await fill(join(environment.dir, 'data'), made);
      },
    },
  };
}
