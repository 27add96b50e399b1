// `npm run bench`: Weir beside other DNS servers on this machine, the same list, the same questions, one core each
// in turn. This file is the order of events; README.md beside it says what the figures mean.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { batchLoad } from './load/batch-load.ts';
import { dnsperfLoad } from './load/dnsperf-load.ts';
import type { LoadGenerator } from './load/load.ts';
import { gatherMaterial } from './material/material.ts';
import { isForwarded } from './material/question-mix.ts';
import type { NativeTools } from './native-tools.ts';
import { buildNativeTools } from './native-tools.ts';
import type { Options } from './options.ts';
import { HELP, parseOptions } from './options.ts';
import type { PreparedWorkload } from './prepared-workload.ts';
import { prepareWorkload } from './prepared-workload.ts';
import { canPin, stopRunning } from './process/child.ts';
import { locate } from './process/locate.ts';
import type { RatioRow, Row, Run } from './report/figures.ts';
import { medianRows, ratioRows } from './report/figures.ts';
import { figureTable, ratioTable } from './report/table.ts';
import type { Exclusion } from './rotations.ts';
import { runRotations, startAll } from './rotations.ts';
import type { Stage } from './running-server.ts';
import { listFiles } from './servers/list-files.ts';
import type { Contestant } from './servers/server-table.ts';
import { findServers } from './servers/server-table.ts';
import { startUpstream } from './upstream.ts';
import { readWorkloads } from './workload.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const RESULT_FILE = join(import.meta.dirname, 'results', 'latest.json');
const GATE_NAMES = 50;

interface WorkloadResult {
  name: string;
  about: string;
  rows: Row[];
  baseline: string;
  ratios: RatioRow[];
  runs: Run[];
}

async function main(options: Options): Promise<boolean> {
  const startedAt = new Date().toISOString();
  const native = options.native ? buildNativeTools(ROOT) : undefined;
  const load = chooseLoad(native, options);
  const { contestants, missing } = findServers(ROOT, native, options.peers);
  if (missing.length > 0) console.log(`not installed, so not measured: ${missing.join(', ')}`);
  if (contestants.length === 0) throw new Error('choose servers: none of them is installed');
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  chmodSync(dir, 0o755); // a database started by root runs as another user and must reach its folder
  process.once('exit', () => {
    if (options.keep) console.log(`kept: ${dir}`);
    else rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  try {
    const material = gatherMaterial(ROOT, options.names, options.seed);
    const workloads = chooseWorkloads(options).map((workload) =>
      prepareWorkload(workload, material, options.seed, dir, options.secs),
    );
    console.log(`${material.names.length.toLocaleString('en')} blocked names, questions: ${material.source}`);
    const upstream = await startUpstream(native, options.basePort, options.loadCore, dir);
    const stage: Stage = {
      dir,
      basePort: options.basePort,
      serverCore: options.serverCore,
      upstream,
      load,
      lists: listFiles(dir, material.names),
      allowedNames: material.stream
        .filter(({ name, type }) => type === 'A' && isForwarded(name, material.listed))
        .slice(0, GATE_NAMES)
        .map(({ name }) => name),
    };
    const excluded: Exclusion[] = [];
    const results: WorkloadResult[] = [];
    for (const queryLog of [false, true]) {
      const sameSetUp = workloads.filter(({ peerQueryLog }) => peerQueryLog === queryLog);
      results.push(...(await runSetUp(stage, contestants, sameSetUp, options, excluded)));
    }
    await upstream.stop();
    const summary = {
      startedAt,
      machine: {
        cpu: cpus()[0]?.model ?? '?',
        cores: cpus().length,
        kernel: release(),
        node: process.version,
      },
      options,
      generator: load.name,
      upstream: upstream.name,
      pinned: canPin,
      questions: material.source,
      servers: contestants.map(({ server, installed }) => ({
        name: server.name,
        version: installed.version,
      })),
      missing,
      excluded,
      workloads: results,
    };
    mkdirSync(dirname(RESULT_FILE), { recursive: true });
    writeFileSync(RESULT_FILE, `${JSON.stringify(summary, undefined, 1)}\n`);
    console.log(`\nwritten to ${RESULT_FILE}`);
    for (const { server, reason } of excluded) console.log(`left out: ${server}: ${reason}`);
    return excluded.length === 0;
  } finally {
    await stopRunning();
  }
}

/** The workloads that share one set-up of the servers, which therefore start (and load their lists) only once. */
async function runSetUp(
  stage: Stage,
  contestants: readonly Contestant[],
  workloads: readonly PreparedWorkload[],
  options: Options,
  excluded: Exclusion[],
): Promise<WorkloadResult[]> {
  const [first] = workloads;
  if (first === undefined) return [];
  const taking = contestants.filter(({ server }) => !first.peerQueryLog || server.logsQueries);
  console.log(`\nstarting servers${first.peerQueryLog ? ', query logs on' : ''}`);
  const servers = await startAll(
    stage,
    taking,
    ({ server }) => (server.name === 'weir' ? first.weirQueryLog : first.peerQueryLog),
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
    console.log(`\n${figureTable(rows)}`);
    if (ratios.length > 0) console.log(`\n${ratioTable(baseline, ratios)}`);
    results.push({ name: workload.name, about: workload.about, rows, baseline, ratios, runs });
  }
  for (const server of servers) await server.child.stop();
  return results;
}

function chooseLoad(native: NativeTools | undefined, options: Options): LoadGenerator {
  if (!canPin)
    console.log('taskset is not installed: servers and generator share the cores, figures vary more');
  if (native !== undefined) return batchLoad(native.load, options.loadCore);
  const why = options.native ? 'no C compiler' : '--no-native';
  const dnsperf = locate('dnsperf');
  if (dnsperf === undefined) throw new Error(`choose a load generator: ${why}, and dnsperf is not installed`);
  console.log(
    `${why}: dnsperf makes the load (up to some 185,000 q/s, no quantiles), there is no echo server,`,
  );
  console.log('and the upstream runs on Node: uncached figures measure it as much as the servers');
  return dnsperfLoad(dnsperf, options.loadCore);
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

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // A second signal finds no handler and ends this process at once.
    void stopRunning().then(() => process.exit(130));
  });
try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) console.log(HELP);
  else process.exitCode = (await main(options)) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
