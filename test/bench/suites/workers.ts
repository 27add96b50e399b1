// One, two and four workers on the same two cores: the cost of a query must not depend on the number of workers. The
// generator shares the cores, so queries per second have no meaning here.
import type { Bench } from '../bench.ts';
import { stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { medianRows, pairedMedian, workersCpuUs } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { alignColumns, figureTable } from '../report/table.ts';
import type { Stage } from '../running-server.ts';
import { askThreads, countOf, threadsOf } from '../thread-measures.ts';
import type { StartedStep } from './in-turn.ts';
import { loadTimes, runInTurn, startSteps, stopSteps } from './in-turn.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const WORKERS = [1, 2, 4];
/** Enough flows that the kernel can distribute them, and enough queries in flight for each worker. */
const SOCKETS = 256;
const WINDOW = 512;
const FLAT = 0.1;
/**
 * Minimum share of a worker, relative to an equal share. By chance alone, 256 flows over four workers can be this
 * uneven.
 */
const MIN_SHARE = 0.6;
const HIT_RATIO_DIFFERENCE = 0.01;

/** See `RowResult`. */
export async function growWorkers(bench: Bench, material: Material): Promise<RowResult> {
  const stage: Stage = {
    ...stageOf(bench, material),
    serverCores: bench.bothCores,
    load: bench.loadOnBoth,
  };
  const workload = saturatedMix(bench, material, 'workers', { sockets: SOCKETS, window: WINDOW });
  const steps = await startSteps(
    WORKERS.map((workers) => ({
      variant: { name: `weir-${workers}-workers`, workers, testHooks: true },
      stage,
      workload,
    })),
  );
  const cold = await Promise.all(steps.map(hitRatio));
  const runs = await runInTurn(steps, bench.options.rotations);
  const shares = await Promise.all(steps.map(flowShares));
  await stopSteps(steps);
  const [first, ...others] = steps.map(({ running }) => running.name);
  const changes = others.map(
    (name) => pairedMedian(runs, name, first!, (more, one) => workersCpuUs(more)! / workersCpuUs(one)!)! - 1,
  );
  const goals: Goal[] = [
    ...others.map((name, index) => ({
      what: `${name}: change of the workers' CPU per query from one worker`,
      measured: Math.abs(changes[index]!),
      unit: '',
      atMost: FLAT,
    })),
    {
      what: 'smallest share of the queries of any worker, of an even share',
      measured: Math.min(...shares.flat()),
      unit: '',
      atLeast: MIN_SHARE,
    },
    {
      what: 'largest difference between hit ratios, cache cold at first',
      measured: Math.max(...cold) - Math.min(...cold),
      unit: '',
      atMost: HIT_RATIO_DIFFERENCE,
    },
  ];
  const rows = medianRows(runs, loadTimes(steps));
  const spread = alignColumns([
    ['server', 'hit ratio from cold', 'shares of the workers, 1 = even'],
    ...steps.map(({ running }, index) => [
      running.name,
      cold[index]!.toFixed(4),
      shares[index]!.map((share) => share.toFixed(2)).join(' '),
    ]),
  ]);
  return { table: `${figureTable(rows)}\n\n${spread}`, goals, figures: { rows, cold, shares, runs } };
}

/** Share of hits among all lookups since the start, including the time when the cache was still empty. */
async function hitRatio({ running }: StartedStep): Promise<number> {
  const threads = (await askThreads(running.child)).map(({ answer }) => answer);
  const hits = countOf(threads, 'CACHE_HITS');
  return hits / (hits + countOf(threads, 'CACHE_MISSES'));
}

/** Share of the answers of each worker, relative to an equal share. */
async function flowShares({ running }: StartedStep): Promise<number[]> {
  const workers = await askThreads(running.child);
  const total = countOf(threadsOf(workers), 'QUERIES');
  return workers.map(
    ({ answer, resolve }) => (countOf([answer, resolve], 'QUERIES') / total) * workers.length,
  );
}
