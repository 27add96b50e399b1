// `npm run bench -- --suite hot-path`: proves that an answer thread in steady state allocates almost nothing, does not
// collect garbage, and runs optimised code. The bench sends load to a real Weir server, whose threads report
// allocations and collections (a test hook), and V8 logs every deoptimisation.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bench } from './bench.ts';
import { ROOT, stageOf } from './bench.ts';
import type { Material } from './material/material.ts';
import type { PreparedWorkload } from './prepared-workload.ts';
import type { Goal } from './report/goal.ts';
import { goalTable } from './report/goal.ts';
import { alignColumns } from './report/table.ts';
import type { RunningServer, Stage } from './running-server.ts';
import { measure, startServer, warmAndCheck } from './running-server.ts';
import { weirContestant } from './servers/server-table.ts';
import { saturatedMix } from './suites/mix.ts';
import type { WorkerMeasures } from './thread-measures.ts';
import { askThreads, longestPauseMs } from './thread-measures.ts';

/** Number of runs before the steady state, in which code is optimised and tables grow to their final size. */
const WARM_RUNS = 2;
/**
 * Limit for the allocations of the clock (twice a second) and of the measurement itself; queries and batches allocate
 * nothing.
 */
const MAX_BYTES_PER_QUERY = 0.05;
const V8_LOG = /^isolate-.*\.log$/;
/** A line of V8's log: code object, source position, reason. */
const DEOPTIMISATION = /^code-deopt,\d+,\d+,\w+,-?\d+,-?\d+,([^,]*),(<.*>),(.*)$/;

/** A workload in steady state. */
export interface ProofRun {
  workload: string;
  answered: number;
  allocatedBytes: number;
  bytesPerMillion: number;
  collections: number;
  longestPauseMs: number;
  /**
   * Kind, source positions and reason of each deoptimisation, as V8 logs them. All threads are logged, but only code
   * that answer threads run is listed.
   */
  deoptimisations: string[];
}

export interface HotPathResult {
  runs: ProofRun[];
  goals: Goal[];
}

/** Measures at saturation and at an ordinary rate. */
export async function proveHotPath(bench: Bench, material: Material): Promise<HotPathResult> {
  console.log('\nhot-path: what an answer thread in steady state allocates, collects and deoptimises');
  const stage = stageOf(bench, material);
  const nodeFlags = ['--log-deopt', '--logfile-per-isolate'];
  const contestant = weirContestant(ROOT, { name: 'weir-hot-path', testHooks: true, nodeFlags });
  const running = await startServer(stage, contestant, 0, true);
  const saturated = saturatedMix(bench, material, 'saturated');
  const ordinary = saturatedMix(bench, material, 'rate-20k', { rateQps: 20_000, window: 1000 });
  await warmAndCheck(stage, running, saturated);
  const runs: ProofRun[] = [];
  for (const workload of [saturated, ordinary]) {
    for (let warm = 0; warm < WARM_RUNS; warm++) await measure(stage, running, workload, 0, undefined);
    runs.push(await prove(stage, running, workload));
  }
  await running.child.stop();
  const goals = runs.flatMap(goalsOf);
  console.log(`\n${tableOf(runs)}\n\n${goalTable(goals)}`);
  for (const { workload, deoptimisations } of runs)
    for (const line of deoptimisations) console.log(`${workload}: deoptimised: ${line}`);
  return { runs, goals };
}

async function prove(stage: Stage, running: RunningServer, workload: PreparedWorkload): Promise<ProofRun> {
  const dir = dirname(running.child.logFile);
  const asked = await askThreads(running.child);
  const before = await askThreads(running.child);
  const logs = logSizes(dir);
  const { answered } = await measure(stage, running, workload, 0, undefined);
  const workers = await askThreads(running.child);
  const threads = workers.map(({ answer }) => answer);
  const collections = threads.reduce((total, { memory }) => total + (memory?.collections.length ?? 0), 0);
  // The used heap is exact to the byte, but shrinks with each garbage collection. The total allocation is counted in
  // whole blocks of the allocator, so it is slightly too high.
  const figure = collections === 0 ? 'usedHeapBytes' : 'allocatedBytes';
  const sum = (of: WorkerMeasures): number =>
    of.reduce((total, { answer }) => total + (answer.memory?.[figure] ?? 0), 0);
  // The measurement itself allocates, so the difference between two measurements in a row is subtracted.
  const allocatedBytes = Math.max(0, sum(workers) - sum(before) - (sum(before) - sum(asked)));
  return {
    workload: workload.name,
    answered,
    allocatedBytes,
    bytesPerMillion: (allocatedBytes / answered) * 1e6,
    collections,
    longestPauseMs: longestPauseMs(threads),
    deoptimisations: deoptimisationsSince(dir, logs),
  };
}

function goalsOf(run: ProofRun): Goal[] {
  return [
    {
      what: `${run.workload}: bytes allocated per query`,
      measured: run.bytesPerMillion / 1e6,
      unit: '',
      atMost: MAX_BYTES_PER_QUERY,
    },
    { what: `${run.workload}: garbage collections`, measured: run.collections, unit: '', atMost: 0 },
    {
      what: `${run.workload}: deoptimisations in dns-worker/`,
      measured: run.deoptimisations.filter((line) => line.includes('/dns-worker/')).length,
      unit: '',
      atMost: 0,
    },
  ];
}

function tableOf(runs: readonly ProofRun[]): string {
  return alignColumns([
    [
      'answer thread',
      'queries',
      'bytes',
      'bytes per million',
      'collections',
      'longest ms',
      'deopts, all threads',
    ],
    ...runs.map((run) => [
      run.workload,
      String(run.answered),
      String(run.allocatedBytes),
      run.bytesPerMillion.toFixed(0),
      String(run.collections),
      run.longestPauseMs.toFixed(1),
      String(run.deoptimisations.length),
    ]),
  ]);
}

/** Sizes of V8's logs. V8 writes a log for each thread, and each line immediately. */
function logSizes(dir: string): Map<string, number> {
  const files = readdirSync(dir).filter((file) => V8_LOG.test(file));
  return new Map(files.map((file) => [join(dir, file), statSync(join(dir, file)).size]));
}

function deoptimisationsSince(dir: string, before: ReadonlyMap<string, number>): string[] {
  return [...logSizes(dir).keys()].flatMap((file) =>
    readFrom(file, before.get(file) ?? 0)
      .split('\n')
      .flatMap((line) => {
        const found = DEOPTIMISATION.exec(line);
        return found === null ? [] : [`${found[1]!} ${found[2]!} ${found[3]!}`];
      }),
  );
}

/** Reads a file from an offset, because the files grow large and only new content is needed. */
function readFrom(file: string, offset: number): string {
  const bytes = Buffer.alloc(Math.max(0, statSync(file).size - offset));
  const descriptor = openSync(file, 'r');
  const read = readSync(descriptor, bytes, 0, bytes.length, offset);
  closeSync(descriptor);
  return bytes.toString('utf8', 0, read);
}
