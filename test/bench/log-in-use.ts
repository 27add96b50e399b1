// `npm run log-in-use`: the stored log of a real Weir over days, while queries come in. The log is made up and goes into
// Weir's own database before it starts; then nothing but queries for a while, to see what they cost; then questions as
// the dashboard asks them, over HTTP, while queries come on. Two of its uses: a home over 90 days, and 20 million
// queries of two nodes under load.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { lockDataDir } from '../../control-plane/db/data-dir-lock.ts';
import { type Database, startDatabase } from '../../control-plane/db/database.ts';
import { CountsDays } from '../../control-plane/query-log/upkeep/counts-days.ts';
import { NameFolding } from '../../control-plane/query-log/upkeep/name-folding.ts';
import { systemClock } from '../../shared/clock.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { type Bench, ROOT, stageOf, withBench } from './bench.ts';
import type { LoadResult } from './load/load.ts';
import { DAY_MS, type MadeUpLog, makeRows, storeMadeUpLog } from './made-up-log.ts';
import { gatherMaterial } from './material/material.ts';
import { parseOptions } from './options.ts';
import { stopRunning } from './process/child.ts';
import { readMemorySplit } from './process/memory.ts';
import { cpuBetween, processTree, readCpu } from './process/proc-tree.ts';
import { writtenBytes } from './process/written-bytes.ts';
import { type RunningServer, startServer, steadyJob, warmAndCheck } from './running-server.ts';
import { type Contestant, weirContestant } from './servers/server-table.ts';
import { saturatedMix } from './suites/mix.ts';

const HELP = `npm run log-in-use -- [options]

  --queries N     queries in the log before it starts (9000000)
  --days N        days that they are spread over, up to now (90)
  --nodes N       nodes that logged them (1)
  --block-rows N  queries of a block at most (60000)
  --rate N        queries a second while it is measured (1.16, 100000 a day)
  --secs N        seconds without a question (300)
  --runs N        times that each question is asked (5)
  --names N, --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench
`;
const OWN = {
  queries: { type: 'string', default: '9000000' },
  days: { type: 'string', default: '90' },
  nodes: { type: 'string', default: '1' },
  'block-rows': { type: 'string', default: '60000' },
  rate: { type: 'string', default: '1.16' },
  secs: { type: 'string', default: '300' },
  runs: { type: 'string', default: '5' },
} as const;
const HOUR_MS = 3_600_000;
const QUIET_MS = 20_000;
const MIB = 2 ** 20;
const WINDOW = 1000;

interface Options {
  readonly queries: number;
  readonly days: number;
  readonly nodes: number;
  readonly blockRows: number;
  readonly rateQps: number;
  readonly secs: number;
  readonly runs: number;
}

function questionsOf(client: string): string[] {
  const days = ['24h', '30d', '90d'];
  return [
    '/queries?limit=100',
    '/queries?limit=100&period=24h',
    '/queries?limit=100&domain=apple&period=24h',
    '/queries?limit=100&domain=com&period=24h',
    '/queries?limit=100&domain=qqqqqq&period=24h',
    '/queries?limit=100&domain=qqqqqq',
    `/queries?limit=100&client=${client}&status=BLOCKED_LIST&period=24h`,
    '/queries/timeline?period=24h&granularity=15min',
    ...days.map((period) => `/stats?period=${period}`),
    ...days.map((period) => `/stats/top_domains?period=${period}&limit=10`),
    ...days.map((period) => `/stats/top_clients?period=${period}&limit=10`),
    `/stats/top_domains?period=24h&limit=10&client=${client}`,
    '/dashboard?period=24h',
  ];
}

/** Puts the log into Weir's database, and its lists, as upkeep would have made them. */
async function fill(dataDir: string, made: MadeUpLog): Promise<void> {
  const lock = lockDataDir(dataDir);
  const logger = new MemoryLogger();
  const database = startDatabase({ urls: '', lock, logger });
  try {
    await database.whenUp();
    const blocks = await storeMadeUpLog(database, makeRows(made), made);
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
function filledWeir(made: MadeUpLog): Contestant {
  const { server, installed } = weirContestant(ROOT, { name: 'weir-log' });
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

/** What queries at this rate cost while nothing else is asked. */
async function measureUse(running: RunningServer, load: Promise<LoadResult>, secs: number): Promise<void> {
  const { pid } = running.child;
  const written = (): number => processTree(pid).reduce((sum, process) => sum + writtenBytes(process.pid), 0);
  const [before, writtenBefore] = [readCpu(pid), written()];
  const { answered, lost, elapsedSecs } = await load;
  const cpu = cpuBetween(
    before,
    readCpu(pid),
    (comm) => running.contestant.server.threadGroup?.(comm) ?? 'all',
  );
  const share = (ns: number): string => `${(ns / elapsedSecs / 1e7).toFixed(2)} %`;
  console.log(`\n${answered} answered, ${lost} lost in ${secs} s`);
  const groups = Object.entries(cpu.groupsNs).map(([group, ns]) => `${group} ${share(ns)}`);
  console.log(
    `of a core: ${share(cpu.totalNs)} (${groups.join(', ')}, its processes ${share(cpu.childrenNs)})`,
  );
  const perDay = ((written() - writtenBefore) / elapsedSecs) * (DAY_MS / 1000);
  console.log(`written to disk: ${(perDay / MIB).toFixed(1)} MiB a day`);
  for (const { pid: each, comm } of processTree(pid)) {
    const { rss, proportional } = readMemorySplit(each);
    console.log(
      `${comm.padEnd(20)}${rss.toFixed(1).padStart(9)} MiB resident, ${proportional?.toFixed(1)} its share`,
    );
  }
}

async function askAll(running: RunningServer, runs: number): Promise<void> {
  console.log(`\n${'milliseconds'.padEnd(72)}   median      max`);
  for (const path of questionsOf('10.0.0.7')) {
    const tookMs: number[] = [];
    for (let run = 0; run < runs; run++) {
      const startedMs = performance.now();
      await running.api!.call('GET', path);
      tookMs.push(performance.now() - startedMs);
    }
    tookMs.sort((a, b) => a - b);
    const cell = (value: number): string => value.toFixed(1).padStart(9);
    console.log(`${path.padEnd(72)}${cell(tookMs[tookMs.length >> 1]!)}${cell(tookMs.at(-1)!)}`);
  }
}

async function logInUse(bench: Bench, options: Options): Promise<void> {
  const material = gatherMaterial(ROOT, bench.options.names, bench.options.seed);
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const made = {
    ...options,
    stream: material.stream,
    startMs: endMs - options.days * DAY_MS,
    seed: bench.options.seed,
  };
  const stage = stageOf(bench, material);
  const running = await startServer(stage, filledWeir(made), 0, true);
  const workload = saturatedMix(bench, material, 'log-in-use');
  await warmAndCheck(stage, running, workload);
  await delay(QUIET_MS); // what the start left to do
  const job = { ...steadyJob(running, workload, WINDOW), rateQps: options.rateQps };
  await measureUse(running, stage.load.run({ ...job, secs: options.secs }), options.secs);
  const asking = askAll(running, options.runs);
  let isAsking = true;
  void asking.finally(() => (isAsking = false));
  const sum = { sent: 0, lost: 0 };
  while (isAsking) {
    const { sent, lost } = await stage.load.run({ ...job, secs: 10 });
    sum.sent += sent;
    sum.lost += lost;
  }
  await asking;
  console.log(`\n${sum.sent} queries meanwhile, ${sum.lost} lost`);
  await running.child.stop();
}

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, strict: false, options: { ...OWN, help: { type: 'boolean' } } });
  if (values.help === true) {
    console.log(HELP);
    return;
  }
  const number = (name: keyof typeof OWN): number => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`read --${name}: expected a positive number`);
    return value;
  };
  const isOwn = (word = ''): boolean => Object.keys(OWN).some((name) => word === `--${name}`);
  const rest = args.filter((word, index) => !isOwn(word) && !isOwn(args[index - 1]));
  await withBench(parseOptions(rest), (bench) =>
    logInUse(bench, {
      queries: number('queries'),
      days: number('days'),
      nodes: number('nodes'),
      blockRows: number('block-rows'),
      rateQps: number('rate'),
      secs: number('secs'),
      runs: number('runs'),
    }),
  );
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void stopRunning().then(() => process.exit(130));
  });
try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
