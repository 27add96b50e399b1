// Cost of a large list: memory of the whole node, time of a start with the list, and, for a rebuild of the list, time
// until the new version is active, temporary memory, and late answers. The list has `--names` names; five million take
// some minutes.
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { probe } from '../servers/answer-probe.ts';
import { readMemorySplit } from '../process/memory.ts';
import type { Run } from '../report/figures.ts';
import { median } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { alignColumns } from '../report/table.ts';
import type { RunningServer, Stage } from '../running-server.ts';
import { measure, pinAnswerThreads, startServer, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import { askThreads, longestPauseMs } from '../thread-measures.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const WORKERS = 4;
/** A rate at which the generator sleeps between questions, so that the compiler can use its core. */
const RATE_QPS = 5000;
const CALM_MS = 8000;
const POLL_MS = 10;
const REBUILD_TIMEOUT_MS = 120_000;
const MAX_BYTES_PER_NAME = 18;
const MAX_START_SECS = 0.3;
const MAX_REBUILD_SECS_PER_MILLION = 0.5;
const MAX_PEAK = 1.5;

interface Figures {
  names: number;
  startSecs: number;
  bytesPerName: number;
  steadyMib: number;
  peakMib: number;
  /** Seconds from the request until the new list is active. */
  rebuildSecs: number[];
  /** Longest garbage collection of an answer thread, including those caused by replaced tables. */
  pauseMs: number;
  quiet: Run[];
  rebuilding: Run[];
}

/** See `RowResult`. */
export async function measureLists(bench: Bench, material: Material): Promise<RowResult> {
  const stage: Stage = { ...stageOf(bench, material), serverCores: bench.bothCores, load: bench.loadAhead };
  const workload = saturatedMix(bench, material, 'lists', { rateQps: RATE_QPS, window: 1000 });
  const variant = { name: 'weir-lists', workers: WORKERS, testHooks: true };
  const running = await startServer(stage, weirContestant(ROOT, variant), 0, true);
  pinAnswerThreads(running, bench.options.serverCore);
  await warmAndCheck(stage, running, workload);
  await delay(CALM_MS);
  const { pid } = running.child;
  const figures: Figures = {
    names: material.names.length,
    startSecs: running.loadSecs,
    bytesPerName: tableBytes(running) / material.names.length,
    steadyMib: readMemorySplit(pid).rss,
    peakMib: 0,
    rebuildSecs: [],
    pauseMs: 0,
    quiet: [],
    rebuilding: [],
  };
  for (let rotation = 0; rotation < bench.options.rotations; rotation++) {
    const measured = async (): Promise<Run> => measure(stage, running, workload, rotation, undefined);
    figures.quiet.push(await measured());
    await askThreads(running.child);
    resetPeak(pid);
    figures.rebuilding.push(await whileRebuilding(running, figures.rebuildSecs, measured));
    figures.peakMib = Math.max(figures.peakMib, readPeakMib(pid));
    const pauses = longestPauseMs((await askThreads(running.child)).map(({ answer }) => answer));
    figures.pauseMs = Math.max(figures.pauseMs, pauses);
    console.log(`  rotation ${rotation + 1} of ${bench.options.rotations} done`);
  }
  await running.child.stop();
  return { table: tableOf(figures), goals: goalsOf(figures), figures };
}

/**
 * Until `work` is done, repeatedly adds a name to the list, makes Weir fetch the list, and waits until the name is
 * blocked.
 */
async function whileRebuilding<Result>(
  running: RunningServer,
  secs: number[],
  work: () => Promise<Result>,
): Promise<Result> {
  let goesOn = true;
  const disturb = async (): Promise<void> => {
    const source = (await running.api!.sources())[0]!;
    const file = new URL(source.url).pathname;
    let added = 0;
    while (goesOn) {
      const name = `n${secs.length}.rebuilt.example.org`;
      appendFileSync(file, `${name}\n`);
      const startedAt = performance.now();
      await running.api!.refresh(source.id);
      await untilRules(running, source.id, (source.rules ?? 0) + ++added, startedAt);
      secs.push((performance.now() - startedAt) / 1000);
      if ((await probe(running.port, name)) !== 'blocked')
        throw new Error(`rebuild the list: ${name} is not blocked`);
    }
  };
  const disturbing = disturb();
  disturbing.catch(() => undefined); // The error is reported below, when the load has ended.
  try {
    return await work();
  } finally {
    goesOn = false;
    await disturbing;
  }
}

/**
 * Waits until the source reports this many active rules. A DNS query for the new name would make it one of the most
 * queried names, and Weir holds updates that block such names.
 */
async function untilRules(
  running: RunningServer,
  id: number,
  rules: number,
  startedAt: number,
): Promise<void> {
  for (;;) {
    const source = await running.api!.source(id);
    if (source.rules === rules && source.status === 'ok') return;
    if (typeof source.last_error === 'string') throw new Error(`rebuild the list: ${source.last_error}`);
    if (performance.now() - startedAt > REBUILD_TIMEOUT_MS)
      throw new Error(`rebuild the list: no ${rules} rules after ${REBUILD_TIMEOUT_MS} ms`);
    await delay(POLL_MS);
  }
}

/** Size of the table on disk, which equals its size in memory. */
function tableBytes(running: RunningServer): number {
  const folder = join(dirname(running.child.logFile), 'data', 'snapshots');
  const sizes = readdirSync(folder)
    .filter((file) => file.startsWith('rules-'))
    .map((file) => statSync(join(folder, file)).size);
  return Math.max(0, ...sizes);
}

/** Resets the kernel's peak memory of a process. */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function readPeakMib(pid: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return found === null ? NaN : Number(found[1]) / 1024;
}

/** Number of answers later than 5 ms, including lost answers. */
function late(runs: readonly Run[]): number {
  return runs.reduce((total, run) => total + (run.late ?? 0) + run.lost, 0);
}

function goalsOf(figures: Figures): Goal[] {
  const quiet = late(figures.quiet);
  const rebuildSecs = median(figures.rebuildSecs);
  const maxRebuildSecs = (MAX_REBUILD_SECS_PER_MILLION * figures.names) / 1e6;
  return [
    { what: 'bytes per name', measured: figures.bytesPerName, unit: '', atMost: MAX_BYTES_PER_NAME },
    {
      what: 'start to first blocked answer',
      measured: figures.startSecs,
      unit: 's',
      atMost: MAX_START_SECS,
    },
    { what: 'changed list active after', measured: rebuildSecs, unit: 's', atMost: maxRebuildSecs },
    {
      what: 'peak RSS of a rebuild / steady',
      measured: figures.peakMib / figures.steadyMib,
      unit: '',
      atMost: MAX_PEAK,
    },
    {
      what: 'rebuilding: answers later than 5 ms',
      measured: late(figures.rebuilding),
      unit: '',
      // Quiet and disturbed runs are equally affected by the machine, so the limit is the quiet count plus two standard
      // deviations.
      atMost: Math.ceil(quiet + 2 * Math.sqrt(quiet)),
    },
  ];
}

function tableOf(figures: Figures): string {
  const memory = alignColumns([
    ['names', 'bytes per name', 'start s', 'RSS MiB', 'peak MiB', 'rebuilds', 'rebuild s', 'GC max ms'],
    [
      figures.names.toLocaleString('en'),
      figures.bytesPerName.toFixed(1),
      figures.startSecs.toFixed(2),
      figures.steadyMib.toFixed(0),
      figures.peakMib.toFixed(0),
      String(figures.rebuildSecs.length),
      median(figures.rebuildSecs).toFixed(2),
      figures.pauseMs.toFixed(1),
    ],
  ]);
  const runs = { quiet: figures.quiet, rebuilding: figures.rebuilding };
  const answers = alignColumns([
    ['meanwhile', 'answers', 'lost', 'later than 5 ms', 'p99.9 us', 'max us'],
    ...Object.entries(runs).map(([name, own]) => [
      name,
      String(own.reduce((total, { answered }) => total + answered, 0)),
      String(own.reduce((total, { lost }) => total + lost, 0)),
      String(late(own)),
      median(own.map((run) => run.latencyUs?.p999 ?? NaN)).toFixed(0),
      Math.max(...own.map((run) => run.latencyUs?.max ?? NaN)).toFixed(0),
    ]),
  ]);
  return `${memory}\n\n${answers}`;
}
