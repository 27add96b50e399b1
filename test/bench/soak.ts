// `npm run soak`: Weir near its limit for minutes, while a list changes and is compiled each minute and the API is
// polled: what is lost, what grows, and how long a worker stands still for its garbage collector. All of Weir, its
// database too, has one core: that core is what is near its limit. Its limit is the rate at which every query is
// answered and in the stored log.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ThreadRole } from '../../shared/messages.ts';
import type { Bench } from './bench.ts';
import { ROOT, stageOf, withBench } from './bench.ts';
import type { LoadJob, LoadResult } from './load/load.ts';
import { gatherMaterial } from './material/material.ts';
import { parseOptions } from './options.ts';
import { probe } from './probe.ts';
import { lastLines, stopRunning } from './process/child.ts';
import type { MemorySplit } from './process/memory.ts';
import { readMemorySplit } from './process/memory.ts';
import { median } from './report/figures.ts';
import type { Goal } from './report/goal.ts';
import { goalTable, isMet } from './report/goal.ts';
import { alignColumns } from './report/table.ts';
import type { RunningServer, Stage } from './running-server.ts';
import { measure, startServer, warmAndCheck } from './running-server.ts';
import { weirContestant } from './servers/server-table.ts';
import { saturatedMix } from './suites/mix.ts';
import { askThreads } from './thread-measures.ts';
import { findThroughput } from './throughput.ts';
import type { PreparedWorkload } from './prepared-workload.ts';

const RESULT_FILE = join(import.meta.dirname, 'results', 'soak.json');
const HELP = `npm run soak -- [options]

  --minutes N     how long (10)
  --share N       part of the rate at which nothing is lost that is asked (0.9)
  --rate N        queries a second instead
  --names N       names of the block list (1000000)
  --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench

What is passed on to the cache's stress test instead: WEIR_CACHE_STRESS_SECS, see README.md.
`;
const COMPILE_EVERY_MS = 60_000;
const POLL_EVERY_MS = 5000;
const LOOK_EVERY_MS = 2000;
const IN_FORCE_PATIENCE_MS = 45_000;
const MOST_PAUSE_MS = 5;
const MOST_GROWTH = 1.05;
/** So many may be in flight that the rate, not the window, sets the pace while Weir stands still for a moment. */
const WINDOW = 16_000;
/** For the last rows on their way into the stored log. */
const LOG_SETTLE_MS = 5000;
const SOCKETS = 16;
const ROLES: readonly ThreadRole[] = ['answer', 'resolve'];

/** One look at the process. */
interface Look {
  secs: number;
  memory: MemorySplit;
  /** Collections since the look before, milliseconds. */
  pauses: Record<ThreadRole, number[]>;
  logRecordsDropped: number;
}

interface Soak {
  /** Of a saturated run of seconds; undefined where the rate was given. */
  saturatedQps: number | undefined;
  /** The most at which nothing was lost. */
  throughputQps: number | undefined;
  rateQps: number;
  load: LoadResult;
  looks: Look[];
  /** Milliseconds from the change of the list to the first answer by it. */
  compilesMs: number[];
  /** Milliseconds of one round of the API's GETs, and of one of those that read the log; failures by their message. */
  pollsMs: number[];
  logPollsMs: number[];
  logFailures: string[];
  /** Answered queries that the stored log does not have at the end. */
  logLost: number;
  failures: string[];
  threadsReplaced: number;
}

async function soak(
  bench: Bench,
  { minutes, share, givenQps }: { minutes: number; share: number; givenQps: number | undefined },
): Promise<Soak> {
  const { options } = bench;
  const material = gatherMaterial(ROOT, options.names, options.seed);
  const stage = stageOf(bench, material);
  const contestant = weirContestant(ROOT, { name: 'weir-soak', testHooks: true });
  const running = await startServer(stage, contestant, 0, true);
  const workload = saturatedMix(bench, material, 'soak');
  await warmAndCheck(stage, running, workload);
  const job = {
    port: running.port,
    questionFile: workload.questionFile,
    window: WINDOW,
    sockets: SOCKETS,
    passes: undefined,
    firstSerial: undefined,
    check: false,
  };
  const limit = givenQps === undefined ? await findLimit(stage, running, workload, job) : undefined;
  const rateQps = givenQps ?? Math.floor(limit!.throughputQps * share);
  console.log(`${rateQps.toLocaleString('en')} q/s for ${minutes} minutes`);
  const work = new AbortController();
  const besides = { looks: [], compilesMs: [], pollsMs: [], failures: [], logPollsMs: [], logFailures: [] };
  const since = new Date();
  const others = Promise.all([
    lookOn(running, work.signal, besides.looks),
    compileOn(running, work.signal, besides),
    pollOn(() => running.api!.poll(), work.signal, besides.pollsMs, besides.failures),
    pollOn(() => running.api!.pollLog(), work.signal, besides.logPollsMs, besides.logFailures),
  ]);
  const load = await stage.load.run({ ...job, secs: minutes * 60, rateQps });
  work.abort();
  await others;
  if (running.child.ended() !== undefined) throw new Error(`soak: weir ended: ${lastLines(running.child)}`);
  await delay(LOG_SETTLE_MS);
  const logLost = Math.max(0, load.answered - (await running.api!.storedQueries(since)));
  const threadsReplaced = lastLines(running.child, 1e6).split('replace a DNS thread').length - 1;
  await running.child.stop();
  return {
    saturatedQps: limit?.saturatedQps,
    throughputQps: limit?.throughputQps,
    rateQps,
    load,
    ...besides,
    logLost,
    threadsReplaced,
  };
}

async function findLimit(
  stage: Stage,
  running: RunningServer,
  workload: PreparedWorkload,
  job: Omit<LoadJob, 'secs' | 'rateQps'>,
): Promise<{ saturatedQps: number; throughputQps: number }> {
  const { qps: saturatedQps } = await measure(stage, running, workload, 0, undefined);
  console.log(`saturated: ${Math.round(saturatedQps).toLocaleString('en')} q/s`);
  return { saturatedQps, throughputQps: await findThroughput(stage, running, job, saturatedQps) };
}

/** Does `work` at once and then every `everyMs` until the signal. */
async function every(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    const pause = delay(everyMs, undefined, { signal }).catch(() => undefined);
    await work();
    await pause;
  }
}

async function lookOn(running: RunningServer, signal: AbortSignal, looks: Look[]): Promise<void> {
  const startedAt = performance.now();
  await askThreads(running.child); // what was collected before does not count
  await every(LOOK_EVERY_MS, signal, async () => {
    const workers = await askThreads(running.child);
    const pausesOf = (role: ThreadRole): number[] =>
      workers.flatMap((worker) => worker[role].memory?.collections.map(({ pauseMs }) => pauseMs) ?? []);
    const look: Look = {
      secs: (performance.now() - startedAt) / 1000,
      memory: readMemorySplit(running.child.pid),
      pauses: { answer: pausesOf('answer'), resolve: pausesOf('resolve') },
      logRecordsDropped: workers.reduce(
        (sum, { answer, resolve }) => sum + answer.logRecordsDropped + resolve.logRecordsDropped,
        0,
      ),
    };
    looks.push(look);
  });
}

/** Each minute one more name is on the list; the answer to it is the proof that it is in force. */
async function compileOn(
  running: RunningServer,
  signal: AbortSignal,
  { compilesMs, failures }: { compilesMs: number[]; failures: string[] },
): Promise<void> {
  const list = join(dirname(running.child.logFile), 'lists', 'names.txt');
  const { id } = (await running.api!.sources())[0]!;
  await every(COMPILE_EVERY_MS, signal, async () => {
    const name = `soak-${compilesMs.length}.example.org`;
    appendFileSync(list, `${name}\n`);
    const startedAt = performance.now();
    await running.api!.refresh(id);
    while ((await probe(running.port, name)) !== 'blocked' && !signal.aborted) {
      if (performance.now() - startedAt > IN_FORCE_PATIENCE_MS) {
        failures.push(`${name} is not blocked after ${IN_FORCE_PATIENCE_MS} ms`);
        return;
      }
      await delay(50);
    }
    if (!signal.aborted) compilesMs.push(performance.now() - startedAt);
  });
}

async function pollOn(
  poll: () => Promise<void>,
  signal: AbortSignal,
  pollsMs: number[],
  failures: string[],
): Promise<void> {
  await every(POLL_EVERY_MS, signal, async () => {
    const startedAt = performance.now();
    try {
      await poll();
      pollsMs.push(performance.now() - startedAt);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  });
}

function goalsOf({ load, looks, compilesMs, failures, threadsReplaced, logLost }: Soak): Goal[] {
  const rss = looks.map(({ memory }) => memory.rss);
  const quarter = Math.max(1, Math.floor(rss.length / 4));
  const growth = median(rss.slice(-quarter)) / median(rss.slice(quarter, 2 * quarter));
  const count = (what: string, measured: number): Goal => ({ what, measured, unit: '', atMost: 0 });
  return [
    count('answers lost', load.lost),
    count('rows missing in the stored log', logLost),
    { what: 'RSS of the last quarter / of the second', measured: growth, unit: '', atMost: MOST_GROWTH },
    ...ROLES.map((role) => ({
      what: `longest garbage collection of the ${role} thread`,
      measured: Math.max(0, ...looks.flatMap(({ pauses }) => pauses[role])),
      unit: 'ms',
      atMost: MOST_PAUSE_MS,
    })),
    count('threads replaced', threadsReplaced),
    count('calls of the API and compiles that failed', failures.length),
    { what: 'lists compiled', measured: compilesMs.length, unit: '', atLeast: 1 },
  ];
}

function report(result: Soak): string {
  const { load, looks, pollsMs, logPollsMs, compilesMs, failures, logFailures } = result;
  const lines = alignColumns([
    [
      'after s',
      'RSS MiB',
      'anonymous',
      'answer: GCs',
      'longest ms',
      'resolve: GCs',
      'longest ms',
      'log dropped',
    ],
    ...sample(looks, 20).map(({ secs, memory, pauses, logRecordsDropped }) => [
      secs.toFixed(0),
      memory.rss.toFixed(0),
      memory.anonymous.toFixed(0),
      ...ROLES.flatMap((role) => [String(pauses[role].length), Math.max(0, ...pauses[role]).toFixed(1)]),
      String(logRecordsDropped),
    ]),
  ]);
  const latency = load.latencyUs;
  const reached = load.answered / load.elapsedSecs;
  const counts = [
    `asked for ${result.rateQps.toLocaleString('en')} q/s, reached ${Math.round(reached).toLocaleString('en')} ` +
      `(the generator was held up for ${(load.slippedSecs ?? 0).toFixed(1)} s)`,
    `${load.sent.toLocaleString('en')} sent, ${load.answered.toLocaleString('en')} answered, ${load.lost} lost`,
    latency === undefined
      ? ''
      : `p50 ${latency.p50.toFixed(0)} us, p99 ${latency.p99.toFixed(0)}, p99.9 ${latency.p999.toFixed(0)}, ` +
        `longest ${latency.max.toFixed(0)}; later than 5 ms: ${load.late ?? 0}`,
    `compiles took ${compilesMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s from change to answer`,
    `${pollsMs.length} rounds of the API took ${timesOf(pollsMs)}`,
    `${logPollsMs.length} rounds over the query log took ${timesOf(logPollsMs)}; ${logFailures.length} got no answer`,
    ...[...new Set([...failures, ...logFailures])].slice(0, 5).map((failure) => `failed: ${failure}`),
  ];
  return `${lines}\n\n${counts.join('\n')}`;
}

function timesOf(roundsMs: readonly number[]): string {
  return roundsMs.length === 0
    ? 'no time'
    : `${median(roundsMs).toFixed(0)} ms, the slowest ${Math.max(...roundsMs).toFixed(0)} ms`;
}

/** Up to `most` of the items, evenly spread; a sampled look has the pauses of those between. */
function sample(looks: readonly Look[], most: number): Look[] {
  const step = Math.max(1, Math.ceil(looks.length / most));
  return looks.flatMap((look, index) => {
    if ((index + 1) % step !== 0) return [];
    const between = looks.slice(index + 1 - step, index + 1);
    const all = (role: ThreadRole): number[] => between.flatMap(({ pauses }) => pauses[role]);
    return [{ ...look, pauses: { answer: all('answer'), resolve: all('resolve') } }];
  });
}

async function main(args: string[]): Promise<boolean> {
  const own = parseArgs({
    args,
    strict: false,
    options: {
      minutes: { type: 'string' },
      share: { type: 'string' },
      rate: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (own.values.help === true) {
    console.log(HELP);
    return true;
  }
  const minutes = Number(own.values.minutes ?? 10);
  const share = Number(own.values.share ?? 0.9);
  const givenQps = own.values.rate === undefined ? undefined : Number(own.values.rate);
  if (!(minutes > 0) || !(share > 0) || !(givenQps === undefined || givenQps > 0))
    throw new Error('read --minutes, --share and --rate: expected positive numbers');
  const rest = args.filter((word, index) => !isOwn(word) && !isOwn(args[index - 1] ?? ''));
  return withBench(parseOptions(rest), async (bench) => {
    const result = await soak(bench, { minutes, share, givenQps });
    const goals = goalsOf(result);
    console.log(`\n${report(result)}\n\n${goalTable(goals)}`);
    mkdirSync(dirname(RESULT_FILE), { recursive: true });
    writeFileSync(RESULT_FILE, `${JSON.stringify({ minutes, share, ...result, goals }, undefined, 1)}\n`);
    console.log(`\nwritten to ${RESULT_FILE}`);
    return goals.every((goal) => isMet(goal) === true);
  });
}

function isOwn(word: string): boolean {
  return word === '--minutes' || word === '--share' || word === '--rate';
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void stopRunning().then(() => process.exit(130));
  });
try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
