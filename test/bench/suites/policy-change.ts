// Time of a policy change from the request to the response, which is sent when the change is active in all threads.
// Measured with the policy of a large household under an ordinary load, together with the effect on that load.
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { Run } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { alignColumns } from '../report/table.ts';
import { measure, pinAnswerThreads, startServer, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import type { WeirApi } from '../servers/weir-api.ts';
import { quantile } from '../report/quantile.ts';
import { preparePolicyChanges, type PolicyChange } from './policy-changes.ts';
import { saturatedMix } from './mix.ts';
import { LARGE_HOUSE } from './policy-row.ts';
import type { RowResult } from './measured-rows.ts';

const RATE_QPS = 20_000;
/** More than one worker, because a change must become active in all of them. */
const WORKERS = 2;
const MAX_MS = 50;

/** Milliseconds from request to response, by kind of change. */
type Times = Map<string, number[]>;

/** See `RowResult`. */
export async function measurePolicyChanges(bench: Bench, material: Material): Promise<RowResult> {
  const stage = { ...stageOf(bench, material), serverCores: bench.bothCores, load: bench.loadAhead };
  const workload = saturatedMix(bench, material, 'policy-change', { rateQps: RATE_QPS, window: 4000 });
  const variant = { name: 'weir-changed', workers: WORKERS, ...LARGE_HOUSE };
  const running = await startServer(stage, weirContestant(ROOT, variant), 0, true);
  pinAnswerThreads(running, bench.options.serverCore);
  await warmAndCheck(stage, running, workload);
  const changes = await preparePolicyChanges(running.api!);
  const times: Times = new Map(changes.map(({ what }) => [what, []]));
  const quiet: Run[] = [];
  const changed: Run[] = [];
  for (let rotation = 0; rotation < bench.options.rotations; rotation++) {
    const measured = async (): Promise<Run> => measure(stage, running, workload, rotation, undefined);
    quiet.push(await measured());
    changed.push(await whileChanging(running.api!, changes, times, measured));
    console.log(`  rotation ${rotation + 1} of ${bench.options.rotations} done`);
  }
  await running.child.stop();
  return {
    table: `${timeTable(times)}\n\n${loadTable({ quiet, changed })}`,
    goals: goalsOf(times, changed),
    figures: { times: Object.fromEntries(times), quiet, changed },
  };
}

/** Repeats one change of each kind in turn until `work` is done. */
async function whileChanging<Result>(
  api: WeirApi,
  changes: readonly PolicyChange[],
  times: Times,
  work: () => Promise<Result>,
): Promise<Result> {
  let goesOn = true;
  const timed = async (what: string, change: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    await change();
    times.get(what)!.push(performance.now() - startedAt);
  };
  const disturb = async (): Promise<void> => {
    for (let count = 0; goesOn; count++) {
      const { what, make } = changes[count % changes.length]!;
      await make(api, Math.floor(count / changes.length), (change) => timed(what, change));
    }
  };
  const disturbing = disturb();
  try {
    return await work();
  } finally {
    goesOn = false;
    await disturbing;
  }
}

function goalsOf(times: Times, changed: readonly Run[]): Goal[] {
  const lost = changed.reduce((sum, run) => sum + run.lost, 0);
  return [
    ...[...times].map(([what, ms]) => ({
      what: `${what}: active after, median`,
      measured: quantile(ms, 0.5),
      unit: 'ms',
      atMost: MAX_MS,
    })),
    { what: `changing at ${RATE_QPS} q/s: answers lost`, measured: lost, unit: '', atMost: 0 },
  ];
}

function timeTable(times: Times): string {
  return alignColumns([
    ['change', 'made', 'p50 ms', 'p95 ms', 'max ms'],
    ...[...times].map(([what, ms]) => [
      what,
      String(ms.length),
      ...[0.5, 0.95, 1].map((share) => quantile(ms, share).toFixed(1)),
    ]),
  ]);
}

function loadTable(runs: Record<string, readonly Run[]>): string {
  const sum = (own: readonly Run[], of: (run: Run) => number | undefined): string =>
    String(own.reduce((total, run) => total + (of(run) ?? 0), 0));
  return alignColumns([
    ['meanwhile', 'answers', 'lost', 'later than 5 ms', 'max us', 'generator held up s'],
    ...Object.entries(runs).map(([name, own]) => [
      name,
      sum(own, (run) => run.answered),
      sum(own, (run) => run.lost),
      sum(own, (run) => run.late),
      Math.max(...own.map((run) => run.latencyUs?.max ?? NaN)).toFixed(0),
      own.reduce((total, run) => total + (run.slippedSecs ?? 0), 0).toFixed(3),
    ]),
  ]);
}
