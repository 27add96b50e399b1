// A Weir server as in a household: a list of moderate size, 100,000 queries a day, idle between them. Measures the
// memory and CPU time that the server uses.
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import { readMemorySplit } from '../process/memory.ts';
import { cpuBetween, processTree, readCpu } from '../process/proc-tree.ts';
import { alignColumns } from '../report/table.ts';
import { startServer, steadyJob, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const QUERIES_PER_DAY = 100_000;
const DAY_SECS = 86_400;
const REST_SECS = 600;
const QUICK_REST_SECS = 20;
const MAX_PSS_MIB = 120;

/** See `RowResult`. */
export async function measureHome(bench: Bench, material: Material): Promise<RowResult> {
  const stage = stageOf(bench, material);
  const workload = saturatedMix(bench, material, 'home');
  const contestant = weirContestant(ROOT, { name: 'weir-home', cacheBytes: null, workers: 0 });
  const running = await startServer(stage, contestant, 0, true);
  const { pid } = running.child;
  await warmAndCheck(stage, running, workload);
  const before = readCpu(pid);
  const secs = bench.options.quick ? QUICK_REST_SECS : REST_SECS;
  const job = steadyJob(running, workload, 16);
  await stage.load.run({ ...job, secs, rateQps: QUERIES_PER_DAY / DAY_SECS });
  const { totalNs } = cpuBetween(before, readCpu(pid), () => 'all');
  const parts = processTree(pid).map(({ pid: one, comm }) => ({
    name: one === pid ? 'weir' : comm,
    mib: readMemorySplit(one).proportional ?? NaN,
  }));
  await running.child.stop();
  const own = parts[0]!.mib;
  const whole = parts.reduce((sum, { mib }) => sum + mib, 0);
  const percent = totalNs / 1e7 / secs;
  const table = alignColumns([
    [`after ${secs} s at ${QUERIES_PER_DAY.toLocaleString('en')} queries a day`, ''],
    ['PSS of all processes, MiB', whole.toFixed(0)],
    ['of it Weir, MiB', own.toFixed(0)],
    [`of which the database (${parts.length - 1} processes), MiB`, (whole - own).toFixed(0)],
    ['CPU of all processes, % of a core', percent.toFixed(2)],
  ]);
  const goals = [{ what: 'home: PSS of all processes', measured: whole, unit: 'MiB', atMost: MAX_PSS_MIB }];
  return { table, goals, figures: { parts, percent, secs } };
}
