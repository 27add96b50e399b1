// Cost of a query as the number of groups, listed names and cached answers grows, none of which should affect the cost.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { gatherMaterial } from '../material/material.ts';
import { isForwarded } from '../material/question-mix.ts';
import { medianRows, pairedMedian, workersCpuUs } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { figureTable } from '../report/table.ts';
import { listFiles } from '../servers/list-files.ts';
import type { Step } from './in-turn.ts';
import { loadTimes, runInTurn, startSteps, stopSteps } from './in-turn.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const MOST = 1.15;
const GROUPS = [10, 50, 200];
/** Numbers of cached answers to measure. */
const ANSWERS = [1000, 100_000, 1_000_000];
const QUICK_ANSWERS = [1000, 10_000, 100_000];
/** Size of the cache: enough for the largest number of answers. Unused memory is not allocated. */
const CACHE_BYTES = 512 << 20;

type Result = Promise<RowResult>;

/** Grows the number of groups, each with a different policy. */
export async function growGroups(bench: Bench, material: Material): Result {
  const stage = stageOf(bench, material);
  const workload = saturatedMix(bench, material, 'groups');
  return grow(
    bench,
    GROUPS.map((groups) => ({ variant: { name: `weir-${groups}-groups`, groups }, stage, workload })),
  );
}

/**
 * Grows the number of names on the list. The questions stay the same: their names are on all of the lists, or on none.
 */
export async function growNames(bench: Bench, material: Material): Result {
  const max = material.names.length * 5;
  const largest = gatherMaterial(ROOT, max, bench.options.seed);
  const counts = [Math.round(material.names.length / 10), material.names.length, max];
  const names = largest.names.slice(0, counts[0]);
  const listed = new Set(names);
  const stream = largest.stream.filter(
    ({ name }) => listed.has(name.toLowerCase()) || isForwarded(name, largest.listed),
  );
  const workload = saturatedMix(bench, { ...largest, names, listed, stream }, 'names');
  return grow(
    bench,
    counts.map((count) => {
      const dir = join(bench.dir, `lists-${count}`);
      mkdirSync(dir);
      return {
        variant: { name: `weir-${count}-names` },
        stage: { ...stageOf(bench, largest), lists: listFiles(dir, largest.names.slice(0, count)) },
        workload,
      };
    }),
  );
}

/** Grows the number of cached answers, all queried equally often. */
export async function growCache(bench: Bench, material: Material): Result {
  const stage = stageOf(bench, material);
  return grow(
    bench,
    (bench.options.quick ? QUICK_ANSWERS : ANSWERS).map((count) => ({
      variant: { name: `weir-${count}-cached`, cacheBytes: CACHE_BYTES },
      stage,
      workload: {
        ...saturatedMix(bench, material, `cached-${count}`, {}, { kind: 'distinct', count }),
        warmupPasses: 1,
      },
    })),
  );
}

/** Measures the steps in turn. Each step may cost at most `atMost` times as much as the first. */
export async function grow(bench: Bench, wanted: readonly Step[], atMost = MOST): Result {
  const steps = await startSteps(wanted);
  const runs = await runInTurn(steps, bench.options.rotations);
  await stopSteps(steps);
  const [first, ...others] = steps.map(({ running }) => running.name);
  const goals: Goal[] = others.map((name) => ({
    what: `${name}: CPU of the workers per query / ${first!}`,
    measured: pairedMedian(runs, name, first!, (more, few) => workersCpuUs(more)! / workersCpuUs(few)!),
    unit: '',
    atMost,
  }));
  const rows = medianRows(runs, loadTimes(steps));
  return { table: figureTable(rows), goals, figures: { rows, runs } };
}
