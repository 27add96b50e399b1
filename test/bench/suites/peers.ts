// The suite `peers`: measures every installed server in turn with every workload.
import { join } from 'node:path';
import { beforeCheckout } from '../before-checkout.ts';
import type { Bench } from '../bench.ts';
import { ROOT, stageOf } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { Options } from '../options.ts';
import type { PreparedWorkload } from '../prepared-workload.ts';
import { prepareWorkload } from '../prepared-workload.ts';
import type { RatioRow, Row, Run } from '../report/figures.ts';
import { medianRows, ratioRows } from '../report/figures.ts';
import type { Goal } from '../report/goal.ts';
import { goalTable } from '../report/goal.ts';
import { peerGoals } from '../report/peer-goals.ts';
import { figureTable, ratioTable } from '../report/table.ts';
import type { Exclusion } from '../rotations.ts';
import { runRotations, startAll } from '../rotations.ts';
import { newFolder } from '../running-server.ts';
import { startUpstream } from '../servers/bench-upstream.ts';
import type { Stage } from '../running-server.ts';
import type { Contestant } from '../servers/server-table.ts';
import { findServers } from '../servers/server-table.ts';
import { readWorkloads } from '../workload.ts';

const RATE_REACHED = 0.98;
/** Offset of the upstream's port, above the ports of the servers and of their web interfaces. */
const UPSTREAM_PORT_OFFSET = 19;

export interface WorkloadResult {
  name: string;
  about: string;
  rows: Row[];
  baseline: string;
  ratios: RatioRow[];
  goals: Goal[];
  runs: Run[];
}

export interface PeersResult {
  servers: { name: string; version: string }[];
  missing: string[];
  excluded: Exclusion[];
  workloads: WorkloadResult[];
}

/** Runs the suite. Throws if no server is installed. */
export async function runPeers(bench: Bench, material: Material): Promise<PeersResult> {
  const { options } = bench;
  const before = options.before === undefined ? undefined : beforeCheckout(ROOT, options.before);
  const { contestants, missing } = findServers(ROOT, bench.native, options.peers, before);
  if (missing.length > 0) console.log(`not installed, so not measured: ${missing.join(', ')}`);
  if (contestants.length === 0) throw new Error('choose servers: none of them is installed');
  const workloads = chooseWorkloads(options).map((workload) =>
    prepareWorkload(workload, material, options.seed, bench.dir, options.secs),
  );
  const stage: Stage = { ...stageOf(bench, material), countLog: true };
  const excluded: Exclusion[] = [];
  const results: WorkloadResult[] = [];
  for (const sameSetUp of Map.groupBy(workloads, setUpOf).values()) {
    const upstream = await upstreamOf(bench, sameSetUp[0]!);
    results.push(...(await runSetUp({ ...stage, upstream }, contestants, sameSetUp, options, excluded)));
    if (upstream !== bench.upstream) await upstream.stop();
  }
  const servers = contestants.map(({ server, installed }) => ({
    name: server.name,
    version: installed.version,
  }));
  return { servers, missing, excluded, workloads: results };
}

/** Text that is equal for workloads that need the same server configuration. */
function setUpOf({ peerQueryLog, upstream }: PreparedWorkload): string {
  return JSON.stringify([peerQueryLog, upstream]);
}

/** The upstream of a workload: the common upstream if the workload needs plain DNS without delay. */
async function upstreamOf({ native, options, dir, upstream }: Bench, workload: PreparedWorkload) {
  const { delayMs, transport } = workload.upstream;
  if (delayMs === 0 && transport === 'udp') return upstream;
  const port = options.basePort + UPSTREAM_PORT_OFFSET;
  return startUpstream(native, port, options.loadCore, newFolder(join(dir, 'upstream')), workload.upstream);
}

/** Runs workloads that need the same server configuration, so that servers start and load their lists only once. */
async function runSetUp(
  stage: Stage,
  contestants: readonly Contestant[],
  workloads: readonly PreparedWorkload[],
  options: Options,
  excluded: Exclusion[],
): Promise<WorkloadResult[]> {
  const [first] = workloads;
  if (first === undefined) return [];
  const taking = contestants.filter(
    ({ server }) =>
      (!first.peerQueryLog || server.logsQueries) &&
      (first.upstream.transport === 'udp' || server.asksOverTls === true),
  );
  const { delayMs, transport } = first.upstream;
  const manner = `${transport}${delayMs === 0 ? '' : ` after ${delayMs} ms`}`;
  console.log(`\nstarting servers, upstream over ${manner}${first.peerQueryLog ? ', query logs on' : ''}`);
  const servers = await startAll(
    stage,
    taking,
    ({ server }) => (server.name.startsWith('weir') ? first.weirQueryLog : first.peerQueryLog),
    excluded,
  );
  const loadSecs = new Map(servers.map(({ name, loadSecs }) => [name, loadSecs]));
  const results: WorkloadResult[] = [];
  for (const workload of workloads) {
    console.log(`\n${workload.name}: ${workload.about}`);
    const runs = await runRotations(stage, servers, workload, options.rotations, excluded);
    const rows = medianRows(runs, loadSecs);
    const names = rows.map(({ server }) => server);
    const baseline = names.includes(options.baseline) ? options.baseline : names[0];
    if (baseline === undefined) continue;
    const ratios = ratioRows(runs, baseline, names);
    const goals = peerGoals(workload.name, runs);
    console.log(`\n${figureTable(rows)}`);
    if (ratios.length > 0) console.log(`\n${ratioTable(baseline, ratios)}`);
    if (goals.length > 0) console.log(`\n${goalTable(goals)}`);
    warnOfSlowRuns(workload, runs);
    results.push({ name: workload.name, about: workload.about, rows, baseline, ratios, goals, runs });
  }
  for (const server of servers) await server.child.stop();
  return results;
}

/**
 * Warns of runs in which the generator was delayed: at a fixed rate, they show the machine's load, not the server's
 * speed.
 */
function warnOfSlowRuns({ load }: PreparedWorkload, runs: readonly Run[]): void {
  const { rateQps } = load;
  if (rateQps === undefined) return;
  const slow = runs.filter(({ qps }) => qps < rateQps * RATE_REACHED).length;
  if (slow > 0)
    console.log(
      `\n${slow} of ${runs.length} runs did not reach ${rateQps} q/s: the machine was busy, discard these figures`,
    );
}

function chooseWorkloads(options: Options): ReturnType<typeof readWorkloads> {
  const all = readWorkloads();
  const unknown = options.workloads.filter((name) => !all.some((workload) => workload.name === name));
  if (unknown.length > 0)
    throw new Error(
      `read --workload: no workload ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    );
  return all.filter(({ name }) => options.workloads.length === 0 || options.workloads.includes(name));
}
