// Late answers while the control plane is busy: a snapshot is replaced ten times a second, or a list is compiled
// repeatedly. The answer thread is pinned to the server's core; Weir's other threads run on any core with capacity, as
// usual. The generator has a higher priority, because a delayed generator would count punctual answers as late.
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { Run } from '../report/figures.ts';
import { medianOf } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { alignColumns } from '../report/table.ts';
import type { RunningServer, Stage } from '../running-server.ts';
import { measure, pinAnswerThreads, startServer, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import type { WeirApi } from '../servers/weir-api.ts';
import { askThreads, longestPauseMs } from '../thread-measures.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

/** A rate at which the generator sleeps between questions, so that the compiler can use its core. */
const RATE_QPS = 5000;
const SWAP_EVERY_MS = 100;

type Disturbance = 'none' | 'swaps' | 'compiles';
const DISTURBANCES: readonly Disturbance[] = ['none', 'swaps', 'compiles'];

interface DisturbedRun extends Run {
  disturbance: Disturbance;
  /** Number of snapshot replacements or compiles that became active during the run. */
  done: number;
  /** Longest garbage collection of the answer thread. */
  longestPauseMs: number;
}

/** See `RowResult`. */
export async function measureDisturbances(bench: Bench, material: Material): Promise<RowResult> {
  const stage: Stage = {
    ...stageOf(bench, material),
    serverCores: bench.bothCores,
    load: bench.loadAhead,
  };
  const workload = saturatedMix(bench, material, 'disturbances', { rateQps: RATE_QPS, window: 1000 });
  const contestant = weirContestant(ROOT, { name: 'weir-disturbed', testHooks: true });
  const running = await startServer(stage, contestant, 0, true);
  pinAnswerThreads(running, bench.options.serverCore);
  await warmAndCheck(stage, running, workload);
  const runs: DisturbedRun[] = [];
  for (let rotation = 0; rotation < bench.options.rotations; rotation++) {
    for (const disturbance of DISTURBANCES) {
      await askThreads(running.child);
      const [run, done] = await withDisturbance(running, disturbance, async () =>
        measure(stage, running, workload, rotation, undefined),
      );
      const threads = (await askThreads(running.child)).map(({ answer }) => answer);
      runs.push({ ...run, disturbance, done, longestPauseMs: longestPauseMs(threads) });
    }
    console.log(`  rotation ${rotation + 1} of ${bench.options.rotations} done`);
  }
  await running.child.stop();
  return { table: tableOf(runs), goals: goalsOf(runs), figures: { runs } };
}

/** Runs `work` during the disturbance; resolves with its result and the number of disturbances. */
async function withDisturbance<Result>(
  running: RunningServer,
  disturbance: Disturbance,
  work: () => Promise<Result>,
): Promise<[Result, number]> {
  let goesOn = true;
  let done = 0;
  const disturb = async (): Promise<void> => {
    const api = running.api!;
    const source = (await api.sources())[0]!;
    let { subdomains } = source;
    while (goesOn && disturbance !== 'none') {
      if (disturbance === 'swaps') await swapOnTime(api, done);
      else await api.setSubdomains(source.id, (subdomains = !subdomains));
      done++;
    }
    // Restores the original state, so that every run starts with the same table.
    if (subdomains !== source.subdomains) await api.setSubdomains(source.id, source.subdomains);
  };
  const disturbing = disturb();
  try {
    return [await work(), done];
  } finally {
    goesOn = false;
    await disturbing;
  }
}

async function swapOnTime(api: WeirApi, number: number): Promise<void> {
  const pause = delay(SWAP_EVERY_MS);
  await api.swapSnapshot(`swap ${number}`);
  await pause;
}

/** Number of answers later than 5 ms, including lost answers. */
function late(runs: readonly DisturbedRun[]): number {
  return runs.reduce((total, run) => total + (run.late ?? 0) + run.lost, 0);
}

function goalsOf(runs: readonly DisturbedRun[]): Goal[] {
  const of = (disturbance: Disturbance): DisturbedRun[] =>
    runs.filter((run) => run.disturbance === disturbance);
  const quiet = late(of('none'));
  // Quiet and disturbed runs are equally affected by the machine, so the limit is the quiet count plus two standard
  // deviations.
  const atMost = Math.ceil(quiet + 2 * Math.sqrt(quiet));
  return [
    {
      what: `a swap each ${SWAP_EVERY_MS} ms: answers later than 5 ms`,
      measured: late(of('swaps')),
      unit: '',
      atMost,
    },
    { what: 'compiling: answers later than 5 ms', measured: late(of('compiles')), unit: '', atMost },
  ];
}

function tableOf(runs: readonly DisturbedRun[]): string {
  return alignColumns([
    [
      'meanwhile',
      'done',
      'answers',
      'p50 us',
      'p99 us',
      'p99.9 us',
      'max us',
      'later than 5 ms',
      'GC max ms',
    ],
    ...DISTURBANCES.map((disturbance) => {
      const own = runs.filter((run) => run.disturbance === disturbance);
      const figure = (of: (run: Run) => number | undefined): string => medianOf(own, of)?.toFixed(0) ?? '-';
      return [
        disturbance,
        String(own.reduce((total, { done }) => total + done, 0)),
        String(own.reduce((total, { answered }) => total + answered, 0)),
        figure((run) => run.latencyUs?.p50),
        figure((run) => run.latencyUs?.p99),
        figure((run) => run.latencyUs?.p999),
        Math.max(...own.map((run) => run.latencyUs?.max ?? NaN)).toFixed(0),
        String(late(own)),
        Math.max(...own.map(({ longestPauseMs: pause }) => pause)).toFixed(1),
      ];
    }),
  ]);
}
