// `npm run bench -- log-in-use`: cost of the stored log of several days in a real Weir server, while queries arrive. A
// generated log is written to Weir's database before Weir starts. At first, only queries arrive, to measure their cost.
// Then the dashboard's searches also run over HTTP. Two typical cases: a home over 90 days, and 20 million queries of
// two nodes under load.
import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, ROOT, stageOf, withBench } from '../bench.ts';
import type { LoadResult } from '../load/load.ts';
import { filledWeir } from './filled-weir.ts';
import { DAY_MS, HOUR_MS } from './made-up-log.ts';
import { gatherMaterial } from '../material/material.ts';
import { parseOptions } from '../options.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';
import { readMemorySplit } from '../process/memory.ts';
import { cpuBetween, processTree, readCpu } from '../process/proc-tree.ts';
import { writtenBytes } from '../process/written-bytes.ts';
import { type RunningServer, startServer, steadyJob, warmAndCheck } from '../running-server.ts';
import { saturatedMix } from '../suites/mix.ts';

const HELP = `npm run bench -- log-in-use [options]

  --queries N     queries in the log before it starts (9000000)
  --days N        days over which they are spread, up to now (90)
  --nodes N       nodes that logged them (1)
  --block-rows N  maximum queries of a block (60000)
  --rate N        queries per second during the measurement (1.16, 100000 per day)
  --secs N        seconds without a search (300)
  --runs N        number of times that each search runs (5)
  --names N, --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench
`;
const DEFAULTS = {
  queries: 9_000_000,
  days: 90,
  nodes: 1,
  'block-rows': 60_000,
  rate: 1.16,
  secs: 300,
  runs: 5,
};
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

/** Cost of queries at this rate without searches. */
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
  await delay(QUIET_MS); // Wait for the remaining work of the start.
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
  console.log(`\n${sum.sent} queries in that time, ${sum.lost} lost`);
  await running.child.stop();
}

async function main(args: string[]): Promise<void> {
  const read = readOwnNumbers(args, DEFAULTS);
  if (read === null) {
    console.log(HELP);
    return;
  }
  const { 'block-rows': blockRows, rate: rateQps, ...own } = read.own;
  await withBench(parseOptions(read.rest), (bench) => logInUse(bench, { ...own, blockRows, rateQps }));
}

await runBench(main);
