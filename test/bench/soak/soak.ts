// `npm run bench -- soak`: Weir near its limit for minutes, while a list changes and is compiled each minute and the
// API is polled. Measures losses, growth, and pauses of workers for garbage collection. Weir and its database share one
// core, which is near its limit. The limit is the highest rate at which every query is answered and stored in the log.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ThreadRole } from '../../../shared/threads/messages.ts';
import type { Bench } from '../bench.ts';
import { ROOT, stageOf, withBench } from '../bench.ts';
import type { LoadJob, LoadResult } from '../load/load.ts';
import { gatherMaterial } from '../material/material.ts';
import { parseOptions } from '../options.ts';
import type { PreparedWorkload } from '../prepared-workload.ts';
import { probe } from '../servers/answer-probe.ts';
import { lastLines, stopRunning } from '../process/child.ts';
import { readMemorySplit } from '../process/memory.ts';
import { goalTable, isMet } from '../report/goal.ts';
import type { RunningServer, Stage } from '../running-server.ts';
import { measure, startServer, steadyJob, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import { goalsOf, soakReport } from './soak-report.ts';
import type { Observations, Look, Soak } from './soak-report.ts';
import { saturatedMix } from '../suites/mix.ts';
import { askLog, askThreads } from '../thread-measures.ts';
import { findThroughput } from '../throughput.ts';

const RESULT_FILE = join(import.meta.dirname, '..', 'results', 'soak.json');
const HELP = `npm run bench -- soak [options]

  --minutes N     duration (10)
  --share N       share of the highest rate without losses (0.9)
  --rate N        queries per second, instead of --share
  --names N       names of the block list (1000000)
  --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench

The stress test of the cache is separate: WEIR_CACHE_STRESS_SECS, see README.md.
`;
const COMPILE_EVERY_MS = 60_000;
const POLL_EVERY_MS = 5000;
const SAMPLE_EVERY_MS = 2000;
const ACTIVATION_PATIENCE_MS = 45_000;
/** Enough queries in flight that the window does not limit the rate if Weir pauses for a moment. */
const WINDOW = 16_000;
/** Time for rows to arrive in the stored log, milliseconds. */
const LOG_SETTLE_MS = 5000;
const TRIAL_SECS = 30;

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
  const job = steadyJob(running, workload, WINDOW);
  const limit = givenQps === undefined ? await findLimit(stage, running, workload, job) : undefined;
  const rateQps = givenQps ?? Math.floor(limit!.throughputQps * share);
  console.log(`${rateQps.toLocaleString('en')} q/s for ${minutes} minutes`);
  const since = new Date();
  const { load, observations } = await underLoad(stage, running, { ...job, secs: minutes * 60, rateQps });
  const stored = await storedRows(running, since, load.answered);
  const threadsReplaced = lastLines(running.child, 1e6).split('replacing a DNS thread').length - 1;
  await running.child.stop();
  return {
    saturatedQps: limit?.saturatedQps,
    throughputQps: limit?.throughputQps,
    rateQps,
    load,
    ...observations,
    logLost: Math.max(0, load.answered - stored),
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
  const throughputQps = await findThroughput(saturatedQps, async (rateQps) => {
    const { load, logged, logLost } = await underLoad(stage, running, { ...job, secs: TRIAL_SECS, rateQps });
    await delay(LOG_SETTLE_MS); // Waits, so that rows of this run do not count in the next run.
    return { ...load, logged, logLost };
  });
  return { saturatedQps, throughputQps };
}

/**
 * Runs the load and the other work of a soak; `logged` is the number of rows that were stored at the end of the load.
 */
async function underLoad(
  stage: Stage,
  running: RunningServer,
  job: LoadJob,
): Promise<{ load: LoadResult; observations: Observations; logged: number; logLost: number }> {
  const work = new AbortController();
  const observations: Observations = {
    looks: [],
    compilesMs: [],
    pollsMs: [],
    failures: [],
    logPollsMs: [],
    logFailures: [],
  };
  const before = await askLog(running.child);
  const others = Promise.all([
    lookOn(running, work.signal, observations.looks),
    compileOn(running, work.signal, observations),
    pollOn(() => running.api!.poll(), work.signal, observations.pollsMs, observations.failures),
    pollOn(() => running.api!.pollLog(), work.signal, observations.logPollsMs, observations.logFailures),
  ]);
  const load = await stage.load.run(job);
  const after = await askLog(running.child);
  work.abort();
  await others;
  if (running.child.ended() !== undefined) throw new Error(`soak: weir ended: ${lastLines(running.child)}`);
  return { load, observations, logged: after.written - before.written, logLost: after.lost - before.lost };
}

/** Number of rows of the stored log since a time, once it has all `expected` rows or has stopped growing. */
async function storedRows(running: RunningServer, since: Date, expected: number): Promise<number> {
  for (let before = -1; ;) {
    await delay(LOG_SETTLE_MS);
    const now = await running.api!.storedQueries(since);
    if (now >= expected || now === before) return now;
    before = now;
  }
}

/** Runs `work` immediately and then every `everyMs` until the signal. */
async function every(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    const pause = delay(everyMs, undefined, { signal }).catch(() => undefined);
    await work();
    await pause;
  }
}

async function lookOn(running: RunningServer, signal: AbortSignal, looks: Look[]): Promise<void> {
  const startedAt = performance.now();
  await askThreads(running.child); // Discards the garbage collections so far.
  await every(SAMPLE_EVERY_MS, signal, async () => {
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

let namesAdded = 0;

/** Adds one name per minute to the list; a blocked answer for the new name proves that the change is active. */
async function compileOn(
  running: RunningServer,
  signal: AbortSignal,
  { compilesMs, failures }: { compilesMs: number[]; failures: string[] },
): Promise<void> {
  const list = join(dirname(running.child.logFile), 'lists', 'names.txt');
  const { id } = (await running.api!.sources())[0]!;
  await every(COMPILE_EVERY_MS, signal, async () => {
    const name = `soak-${++namesAdded}.example.org`;
    appendFileSync(list, `${name}\n`);
    const startedAt = performance.now();
    await running.api!.refresh(id);
    while ((await probe(running.port, name)) !== 'blocked' && !signal.aborted) {
      if (performance.now() - startedAt > ACTIVATION_PATIENCE_MS) {
        failures.push(`${name} is not blocked after ${ACTIVATION_PATIENCE_MS} ms`);
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
    console.log(`\n${soakReport(result)}\n\n${goalTable(goals)}`);
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
