// `npm run bench -- simulate`: time and cost of simulating a draft over a day of logged queries, and the effect on DNS
// and `/health`. The generated log is written to Weir's database before Weir starts.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Bench, ROOT, stageOf, withBench } from '../bench.ts';
import { filledWeir } from './filled-weir.ts';
import type { LoadResult } from '../load/load.ts';
import { DAY_MS } from './made-up-log.ts';
import { gatherMaterial } from '../material/material.ts';
import { parseOptions } from '../options.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';
import { type RunningServer, startServer, steadyJob, warmAndCheck } from '../running-server.ts';
import { saturatedMix } from '../suites/mix.ts';

const HELP = `npm run bench -- simulate [options]

  --queries N     queries in the log of the last day (1000000)
  --block-rows N  maximum queries of a block (60000)
  --rate N        queries per second during the measurement (2000)
  --runs N        number of times that each draft is sent (3)
  --names N, --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench
`;
const DEFAULTS = { queries: 1_000_000, 'block-rows': 60_000, rate: 2000, runs: 3 };
const QUIET_MS = 20_000;
const WINDOW = 1000;
const LOAD_SECS = 10;
const POLL_MS = 20;
const LISTED_NAMES = 1000;
const TICKS_PER_SEC = 100;

const simulated = z.object({
  queries: z.object({ judged: z.number(), distinct: z.number(), left_out: z.number() }),
  newly_blocked: z.object({ queries: z.number() }),
  newly_allowed: z.object({ queries: z.number() }),
});
const sources = z.array(z.object({ id: z.number() }));

interface Options {
  readonly queries: number;
  readonly blockRows: number;
  readonly rateQps: number;
  readonly runs: number;
}

/** CPU seconds of a process, including ended threads, without its children. */
function cpuSecs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

/** Polls `/health` until `until` settles; returns the milliseconds of each response. */
async function watchHealth(running: RunningServer, until: Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  until.then(end, end);
  while (!isOver) {
    const startedMs = performance.now();
    await running.api!.call('GET', '/health');
    tookMs.push(performance.now() - startedMs);
    await delay(POLL_MS);
  }
  return tookMs;
}

function print(name: string, load: LoadResult, health: readonly number[], more: string): void {
  const p99Ms = (load.latencyUs?.p99 ?? Number.NaN) / 1000;
  const cells = [p99Ms, quantile(health, 0.5), quantile(health, 0.99), Math.max(...health)];
  const shown = cells.map((cell) => cell.toFixed(1).padStart(9)).join('');
  console.log(`${name.padEnd(34)}${shown}${String(load.lost).padStart(7)}  ${more}`);
}

/** Runs load and polls `/health` while the draft is simulated repeatedly; null = no draft is simulated. */
async function measure(
  bench: { running: RunningServer; run: () => Promise<LoadResult> },
  [name, draft]: readonly [string, object | null],
  runs: number,
): Promise<void> {
  const { running, run } = bench;
  const took: number[] = [];
  const cpu: number[] = [];
  let answer: z.infer<typeof simulated> | undefined;
  const load = run();
  const health = watchHealth(running, load);
  for (let each = 0; draft !== null && each < runs; each++) {
    const [startedMs, before] = [performance.now(), cpuSecs(running.child.pid)];
    answer = simulated.parse(await running.api!.call('POST', '/simulate', draft));
    took.push((performance.now() - startedMs) / 1000);
    cpu.push(cpuSecs(running.child.pid) - before);
  }
  const list = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(' ');
  const found =
    answer === undefined
      ? ''
      : `${list(took)} s, ${list(cpu)} s of CPU with DNS; ${answer.queries.judged} queries, ` +
        `${answer.queries.distinct} questions, ${answer.queries.left_out} left out, ` +
        `+${answer.newly_blocked.queries} -${answer.newly_allowed.queries}`;
  print(name, await load, await health, found);
}

async function simulateBench(bench: Bench, options: Options): Promise<void> {
  const material = gatherMaterial(ROOT, bench.options.names, bench.options.seed);
  const startMs = Date.now() - DAY_MS + 600_000;
  const made = {
    ...options,
    nodes: 1,
    days: 0.99,
    stream: material.stream,
    startMs,
    seed: bench.options.seed,
  };
  const stage = stageOf(bench, material);
  const running = await startServer(stage, filledWeir(made), 0, true);
  const workload = saturatedMix(bench, material, 'simulate-bench');
  await warmAndCheck(stage, running, workload);
  await delay(QUIET_MS); // Wait for the remaining work of the start.
  const job = { ...steadyJob(running, workload, WINDOW), rateQps: options.rateQps, secs: LOAD_SECS };
  const run = (): Promise<LoadResult> => stage.load.run(job);
  const ids = sources.parse(await running.api!.call('GET', '/blocklist-sources')).map(({ id }) => id);
  const names = [...new Set(material.stream.map(({ name }) => name))].slice(0, LISTED_NAMES);
  const drafts: readonly (readonly [string, object | null])[] = [
    ['nothing', null],
    ['an empty draft', {}],
    ['lists dropped', { lists: { drop: ids } }],
    ['1,000 rules', { managed_domains: { add: names.map((domain) => ({ domain })) } }],
    ['a regex', { regex_filters: { add: [{ pattern: '^(www|cdn)[.]' }] } }],
    ['a list of 1,000 names added', { lists: { add: [{ text: names.join('\n') }] } }],
  ];
  console.log(`${'milliseconds'.padEnd(34)}  DNS p99  /health      p99      max   lost`);
  for (const draft of drafts) await measure({ running, run }, draft, options.runs);
  await running.child.stop();
}

async function main(args: string[]): Promise<void> {
  const read = readOwnNumbers(args, DEFAULTS);
  if (read === null) {
    console.log(HELP);
    return;
  }
  const { 'block-rows': blockRows, rate: rateQps, ...own } = read.own;
  await withBench(parseOptions(read.rest), (bench) => simulateBench(bench, { ...own, blockRows, rateQps }));
}

await runBench(main);
