// Parts that all suites share: the built programs, the generator, the temporary folder and the upstream. They are
// opened once and always closed.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AHEAD_OF_OTHERS, batchLoad } from './load/batch-load.ts';
import { dnsperfLoad } from './load/dnsperf-load.ts';
import type { LoadGenerator } from './load/load.ts';
import type { Material } from './material/material.ts';
import { isForwarded } from './material/question-mix.ts';
import type { NativeTools } from './native-tools.ts';
import { buildNativeTools } from './native-tools.ts';
import type { Options } from './options.ts';
import { canPin, stopRunning } from './process/child.ts';
import { locate } from './process/locate.ts';
import type { Stage } from './running-server.ts';
import { listFiles } from './servers/list-files.ts';
import type { Upstream } from './servers/bench-upstream.ts';
import { startUpstream } from './servers/bench-upstream.ts';

/** Folder of the checkout. */
export const ROOT = join(import.meta.dirname, '..', '..');
const GATE_NAMES = 50;

export interface Bench {
  options: Options;
  native: NativeTools | undefined;
  /** Load generator on the load core. */
  load: LoadGenerator;
  /** Load generator on the load core, with a higher priority than other processes on the core. */
  loadAhead: LoadGenerator;
  /** Load generator on both cores, for servers that also use both. */
  loadOnBoth: LoadGenerator;
  bothCores: readonly number[];
  dir: string;
  upstream: Upstream;
}

/** Opens the bench, runs the work, and stops everything that the bench has started. */
export async function withBench<Result>(
  options: Options,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const native = options.native ? buildNativeTools(ROOT) : undefined;
  const generator = chooseGenerator(native, options);
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  chmodSync(dir, 0o755); // A database started by root runs as another user, who must be able to enter the folder.
  process.once('exit', () => {
    if (options.keep) console.log(`kept: ${dir}`);
    else rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  try {
    const upstream = await startUpstream(native, options.basePort, options.loadCore, dir);
    const bothCores = [...new Set([options.serverCore, options.loadCore])];
    const load = generator([options.loadCore]);
    const loadAhead = generator([options.loadCore], AHEAD_OF_OTHERS);
    const loadOnBoth = generator(bothCores);
    const bench: Bench = { options, native, load, loadAhead, loadOnBoth, bothCores, dir, upstream };
    const result = await work(bench);
    await upstream.stop();
    return result;
  } finally {
    await stopRunning();
  }
}

/** Environment of the measurements with one block list; the measured server has its own core. */
export function stageOf(bench: Bench, material: Material): Stage {
  const { dir, options, upstream, load } = bench;
  return {
    dir,
    basePort: options.basePort,
    serverCores: [options.serverCore],
    upstream,
    load,
    countLog: false,
    lists: listFiles(dir, material.names),
    allowedNames: material.stream
      .filter(({ name, type }) => type === 'A' && isForwarded(name, material.listed))
      .slice(0, GATE_NAMES)
      .map(({ name }) => name),
  };
}

function chooseGenerator(
  native: NativeTools | undefined,
  options: Options,
): (cores: readonly number[], nice?: number) => LoadGenerator {
  if (!canPin)
    console.log('taskset is not installed: servers and generator share the cores, so figures vary more');
  if (native !== undefined) return (cores, nice) => batchLoad(native.load, cores, nice);
  const why = options.native ? 'no C compiler' : '--no-native';
  const dnsperf = locate('dnsperf');
  if (dnsperf === undefined) throw new Error(`choose a load generator: ${why}, and dnsperf is not installed`);
  console.log(
    `${why}: dnsperf generates the load (up to about 185,000 q/s, no quantiles), there is no echo server,`,
  );
  console.log('and the upstream runs on Node: uncached figures measure it as much as the servers');
  return (cores) => dnsperfLoad(dnsperf, cores);
}
