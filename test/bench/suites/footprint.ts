// Footprint of a Weir server with one worker: CPU when idle, memory after a start, under load and afterwards.
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { MemorySplit } from '../process/memory.ts';
import { readMemorySplit } from '../process/memory.ts';
import { cpuBetween, readCpu } from '../process/proc-tree.ts';
import type { Goal } from '../report/goal.ts';
import { alignColumns } from '../report/table.ts';
import { measure, startServer, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import { saturatedMix } from './mix.ts';
import type { RowResult } from './measured-rows.ts';

const IDLE_SECS = 20;
const QUICK_IDLE_SECS = 5;
/** Time until a start is complete, including the first check for due lists and the work of the database. */
const CALM_MS = 10_000;
const MAX_IDLE_PERCENT = 0.5;
const MAX_RSS_MIB = 120;

/** See `RowResult`. */
export async function measureFootprint(bench: Bench, material: Material): Promise<RowResult> {
  const stage = stageOf(bench, material);
  const workload = saturatedMix(bench, material, 'footprint');
  const running = await startServer(stage, weirContestant(ROOT, { name: 'weir-footprint' }), 0, true);
  const { pid } = running.child;
  await delay(CALM_MS);
  const started = readMemorySplit(pid);
  const idle = await idlePercent(pid, bench.options.quick ? QUICK_IDLE_SECS : IDLE_SECS);
  await warmAndCheck(stage, running, workload);
  await measure(stage, running, workload, 0, undefined);
  const loaded = readMemorySplit(pid);
  await delay(CALM_MS);
  const rested = readMemorySplit(pid);
  await running.child.stop();
  const goals: Goal[] = [
    {
      what: 'at rest: CPU of all processes',
      measured: idle.all,
      unit: '% of a core',
      atMost: MAX_IDLE_PERCENT,
    },
    { what: 'RSS after a start', measured: started.rss, unit: 'MiB', atMost: MAX_RSS_MIB },
    { what: 'RSS after a load', measured: rested.rss, unit: 'MiB', atMost: MAX_RSS_MIB },
  ];
  const table = alignColumns([
    ['MiB, database excluded', 'RSS', 'anonymous', 'file', 'shared', 'proportional'],
    memoryLine('after a start', started),
    memoryLine('at the end of a saturated run', loaded),
    memoryLine(`${CALM_MS / 1000} s later`, rested),
  ]);
  const rest = `at rest: ${idle.own.toFixed(3)} % of a core, database ${idle.children.toFixed(3)} %`;
  return { table: `${table}\n\n${rest}`, goals, figures: { idle, started, loaded, rested } };
}

function memoryLine(when: string, memory: MemorySplit): string[] {
  const { rss, anonymous, file, shared, proportional } = memory;
  return [
    when,
    ...[rss, anonymous, file, shared].map((mib) => mib.toFixed(0)),
    proportional?.toFixed(0) ?? '-',
  ];
}

/** CPU of the process and its descendants while idle, percent of a core. */
async function idlePercent(
  pid: number,
  secs: number,
): Promise<{ all: number; own: number; children: number; threads: Record<string, number> }> {
  const before = readCpu(pid);
  const startedAt = performance.now();
  await delay(secs * 1000);
  const cpu = cpuBetween(before, readCpu(pid), (comm) => comm);
  const percent = (ns: number): number => ns / 1e4 / (performance.now() - startedAt);
  const threads = Object.fromEntries(Object.entries(cpu.groupsNs).map(([comm, ns]) => [comm, percent(ns)]));
  return {
    all: percent(cpu.totalNs),
    own: percent(cpu.totalNs - cpu.childrenNs),
    children: percent(cpu.childrenNs),
    threads,
  };
}
