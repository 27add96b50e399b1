/** The questions of a run, the list that blocks some of the names, and a wait until all answers are stored. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/parts/until.ts';
import type { ApiClient } from '../support/weir/api-client.ts';
import type { TempDir } from '../support/weir/data-dir.ts';
import { type ListServer, startListServer } from '../support/weir/list-server.ts';
import type { Weir } from '../support/weir/weir-process.ts';

/** Number of questions in one pass: every fifth is blocked, the rest are cached after the first pass. */
export const NAMES = 5000;
const BLOCKED_EVERY = 5;
const SETTLE_MS = 200;
/** Time limit for storing all answers: after a long run, much of the log may be in the spool. */
const STORED_MS = 600_000;

/** Serves a list that blocks every fifth name; it is active on the node when the promise resolves. */
export async function subscribe(api: ApiClient): Promise<ListServer> {
  const lists = await startListServer();
  const blocked = Array.from({ length: NAMES / BLOCKED_EVERY }, (_, index) => nameOf(index * BLOCKED_EVERY));
  lists.serve('/list.txt', blocked.join('\n'));
  await api.addSource({ name: 'blocked', url: lists.url('/list.txt') });
  return lists;
}

/** Files of questions: the mix, and a file whose names the generator makes unique. */
export function writeQuestions(tempDir: TempDir): { mix: string; fresh: string } {
  const mix = join(tempDir.path, 'mix.txt');
  const fresh = join(tempDir.path, 'fresh.txt');
  writeFileSync(
    mix,
    Array.from({ length: NAMES }, (_, i) => `${nameOf(i)} ${i % 3 === 0 ? 'AAAA' : 'A'}\n`).join(''),
  );
  writeFileSync(fresh, Array.from({ length: NAMES }, () => '00000000.fresh.example.com A\n').join(''));
  return { mix, fresh };
}

/** Waits until all answers of a node are in the database. */
export async function untilStored(weir: Weir): Promise<void> {
  const api = await weir.api();
  await until(
    'the query log to be stored',
    async () => {
      await api.queryCount(); // Reading the log flushes the queries that are still in memory.
      const metrics = await api.metrics();
      return {
        waitingRows: metrics.sum('weir_query_log_waiting_rows'),
        spoolBytes: metrics.sum('weir_query_log_spool_bytes'),
      };
    },
    ({ waitingRows, spoolBytes }) => waitingRows + spoolBytes === 0,
    { pauseMs: SETTLE_MS, withinMs: STORED_MS },
  );
}

/** In each pass, excludes one name from the log, one from statistics, and one from both. */
export async function excludeNames(api: ApiClient): Promise<void> {
  const [fromLog, fromStats, fromBoth] = [1, 2, 3].map(nameOf);
  await api.expect(200, 'PATCH', '/config', {
    database: {
      log_excluded_domains: [fromLog, fromBoth],
      stats_excluded_domains: [fromStats, fromBoth],
    },
  });
}

function nameOf(index: number): string {
  return `host${String(index)}.${index % BLOCKED_EVERY === 0 ? 'blocked' : 'known'}.example.com`;
}
