/**
 * `npm run exactness`: two nodes on one database answer a known mix, while the database is restarted twice, once after
 * a kill, and one node is killed and restarted. Afterwards, every place that counts queries must report exactly the
 * same numbers: the log, its export, the statistics, the timeline, the top lists, the SQL views, the compatibility API,
 * and Prometheus. One name is excluded from the log, one from statistics, one from both: the log then has the queries
 * that statistics count, minus queries_not_logged, plus queries_not_counted. Then one node rate-limits a flood of new
 * names, while the database is killed once more: the flood has few log rows, but exact sums. Only data that the killed
 * node had not sent to the database may be lost. Needs a C compiler for the load generator.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { batchLoad } from '../bench/load/batch-load.ts';
import type { LoadGenerator, LoadJob, LoadResult } from '../bench/load/load.ts';
import { buildNativeTools } from '../bench/native-tools.ts';
import { startEchoingUpstream } from '../support/dns/echoing-upstream.ts';
import { makeTempDir, prepareDataDir, type TempDir } from '../support/weir/data-dir.ts';
import type { Weir } from '../support/weir/weir-process.ts';
import type { ApiClient } from '../support/weir/api-client.ts';
import { compareFigures } from './compared-figures.ts';
import { compareRuns, type Life } from './compared-runs.ts';
import { excludeNames, NAMES, subscribe, untilStored, writeQuestions } from './known-mix.ts';
import { Nodes } from './nodes.ts';
import { type SharedDatabase, startSharedDatabase } from '../support/weir/shared-database.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HELP = `npm run exactness -- [options]

  --queries N   of both nodes together (1000000)
  --rate N      queries a second of each node (8000)
`;
const CLIENTS = 40;
/** Share of queries for new names among the second node's queries in its second run. */
const NEW_SHARE = 0.1;
/** A killed node loses at most the queries collected in this time, milliseconds. */
const UNSTORED_MS = 2000;
/** Duration of a flood from client networks (/24) that are rate-limited, seconds. */
const FLOOD_SECS = 8;
const FLOOD_NETWORKS = 3;
const FLOOD_LIMIT = { enabled: true, queries_per_second: 50, burst_size: 50 };
/**
 * Maximum number of blocks that a second of a flood may be spread over: a block ends each second, and when the log is
 * read.
 */
const MAX_PARTS = 3;
const MAX_SECS = 3600;

const { values } = parseArgs({
  options: {
    queries: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '8000' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
} else {
  const tools = buildNativeTools(ROOT);
  if (tools === undefined) throw new Error('exactness: the load generator needs a C compiler');
  const tempDir = makeTempDir();
  try {
    process.exitCode = await prove(batchLoad(tools.load, [0, 1], 0), tempDir, {
      queries: Number(values.queries),
      rateQps: Number(values.rate),
    });
  } finally {
    tempDir.remove();
  }
}

async function prove(
  load: LoadGenerator,
  tempDir: TempDir,
  { queries, rateQps }: { queries: number; rateQps: number },
): Promise<number> {
  await using upstream = await startEchoingUpstream();
  await using database = await startSharedDatabase(join(tempDir.path, 'database'));
  await prepareDataDir(join(tempDir.path, 'prepared'), database.url);
  const nodes = new Nodes(tempDir, database.url, `127.0.0.1:${String(upstream.port)}`);
  await using first = await nodes.start('first');
  const lists = await subscribe(await first.api());
  await excludeNames(await first.api());
  const files = writeQuestions(tempDir);
  const passes = Math.ceil(queries / 2 / NAMES);
  const halfSecs = Math.ceil(queries / 2 / rateQps);
  const ask = (weir: Weir, job: Partial<LoadJob>): Promise<LoadResult> =>
    load.run({
      ...{ port: weir.dnsPort, questionFile: files.mix, secs: MAX_SECS, rateQps, window: 2000, sockets: 8 },
      ...{ clients: CLIENTS, passes: undefined, firstSerial: undefined, check: true },
      ...job,
    });

  const ofFirst = ask(first, { passes });
  const restarts = restartTwice(database, halfSecs);
  const ofKilled = await nodes.askUntilKilled('second', ask, halfSecs / 2);
  await using second = await nodes.start('second');
  const later = Math.floor(passes / 2);
  const ofSecond = await ask(second, { passes: later - Math.ceil(later * NEW_SHARE) });
  const fresh = { passes: Math.ceil(later * NEW_SHARE), questionFile: files.fresh };
  const ofNew = await ask(second, { ...fresh, check: false, firstSerial: 1 });
  await restarts;
  const seenOfFirst = await ofFirst;
  const ofFlood = await flood(second, database, (job) =>
    ask(second, { ...job, questionFile: files.fresh, check: false, firstSerial: 1_000_000 }),
  );
  const lives = [ofSecond, ofNew, ofFlood];
  const sum = (of: 'sent' | 'answered'): number => lives.reduce((total, life) => total + life[of], 0);
  const runs: Life[] = [
    { node: 'first', seen: seenOfFirst, weir: first },
    { node: 'second', seen: ofKilled, weir: null },
    { node: 'second', seen: { sent: sum('sent'), answered: sum('answered') }, weir: second },
  ];
  await untilStored(first);
  await untilStored(second);

  await using compat = await nodes.start('compat', { altCompat: true });
  const maxLost = Math.ceil((rateQps * UNSTORED_MS) / 1000);
  const wrong = [
    ...(await compareRuns(database, runs, { maxLost, lossy: true })),
    ...(await compareFigures({ first, second }, compat, database)),
    ...(await boundRows(await first.api(), ofFlood)),
  ];
  await lists.close();
  for (const line of wrong) print(`WRONG: ${line}`);
  return wrong.length === 0 ? 0 : 1;
}

/** Floods a node that limits each network, while the database is killed. */
async function flood(
  weir: Weir,
  database: SharedDatabase,
  ask: (job: Partial<LoadJob>) => Promise<LoadResult>,
): Promise<LoadResult> {
  const api = await weir.api();
  await api.expect(200, 'PATCH', '/config', { dns: { rate_limit: FLOOD_LIMIT } });
  print('a flood from three networks is limited');
  const asked = ask({ secs: FLOOD_SECS, clients: FLOOD_NETWORKS * 256 });
  await delay(FLOOD_SECS * 400);
  print('the database is killed');
  await database.restart('SIGKILL');
  return asked;
}

/** A line for each fault: the limited queries have too many rows, or no query was limited. */
async function boundRows(api: ApiClient, { elapsedSecs, sent }: LoadResult): Promise<string[]> {
  const rows = await api.rowCount('status=RATE_LIMITED');
  const queries = await api.queryCount('status=RATE_LIMITED');
  const maxRows = FLOOD_NETWORKS * (Math.ceil(elapsedSecs) + 2) * MAX_PARTS;
  print(`${String(queries)} of ${String(sent)} queries of the flood were limited: ${String(rows)} rows`);
  if (queries < sent / 2) return [`only ${String(queries)} of ${String(sent)} queries were limited`];
  return rows <= maxRows
    ? []
    : [`${String(rows)} rows of limited queries: expected at most ${String(maxRows)}`];
}

async function restartTwice(database: SharedDatabase, halfSecs: number): Promise<void> {
  await delay(halfSecs * 250);
  print('the database is restarted');
  await database.restart('SIGINT');
  await delay(halfSecs * 400);
  print('the database is killed');
  await database.restart('SIGKILL');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
