// A real Weir whose database has a made-up log of days before it is measured.
import { join } from 'node:path';
import { lockDataDir } from '../../../control-plane/db/data-dir-lock.ts';
import { type Database, startDatabase } from '../../../control-plane/db/database.ts';
import { CountsDays } from '../../../control-plane/query-log/upkeep/counts-days.ts';
import { NameFolding } from '../../../control-plane/query-log/upkeep/name-folding.ts';
import { systemClock } from '../../../shared/clock.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { ROOT } from '../bench.ts';
import { type Contestant, weirContestant } from '../servers/server-table.ts';
import type { WeirVariant } from '../servers/weir.ts';
import { type MadeUpLog, makeRows, storeMadeUpLog } from './made-up-log.ts';

const MIB = 2 ** 20;

/** Puts the log into Weir's database, and its lists, as upkeep would have made them. */
async function fill(dataDir: string, made: MadeUpLog): Promise<void> {
  // Before the database is open: it takes seconds in one turn, and the liveness check would not have its.
  const rows = makeRows(made);
  const lock = lockDataDir(dataDir);
  const logger = new MemoryLogger();
  const database = startDatabase({ urls: '', lock, logger });
  try {
    await database.whenUp();
    const blocks = await storeMadeUpLog(database, rows, made);
    for (let nodeId = 1; nodeId <= made.nodes; nodeId++) {
      const folding = new NameFolding({ database, logger, nodeId });
      while ((await folding.turn()) > 0);
    }
    await new CountsDays({ database, logger, clock: systemClock, rollupDays: () => made.days + 1 }).keep();
    // A day's counts come into the room of those that were dropped: here all are there before the first are dropped.
    await database.query('VACUUM FULL query_counts');
    await database.query('VACUUM ANALYZE');
    console.log(`${made.queries} queries of ${made.nodes} nodes, ${made.days} days, in ${blocks} blocks`);
    await printSizes(database, made);
  } finally {
    await database.close();
    lock.release();
  }
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
      firstRun: async (room, launch) => {
        await server.firstRun?.(room, launch);
        await fill(join(room.dir, 'data'), made);
      },
    },
  };
}
