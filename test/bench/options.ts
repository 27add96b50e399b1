// The command line of the bench: its options, defaults, and help text. This file starts nothing.
import { parseArgs } from 'node:util';

/** Suites of the bench; see README.md. */
export const SUITES = ['peers', 'scaling', 'resolver', 'hot-path'] as const;
/** Suites from which `--row` selects rows. */
const HAVE_ROWS: readonly Suite[] = ['scaling', 'resolver'];
export type Suite = (typeof SUITES)[number];

export interface Options {
  suites: Suite[];
  /** Rows of the suites `scaling` and `resolver` to run; empty = all. */
  rows: string[];
  /** Names of servers to measure; empty = all installed servers. */
  peers: string[];
  /** Names of workloads, empty = all. */
  workloads: string[];
  rotations: number;
  /** Seconds per run; undefined = as the workload defines. */
  secs: number | undefined;
  /** Number of names on the block list. */
  names: number;
  seed: number;
  basePort: number;
  serverCore: number;
  loadCore: number;
  /** A folder, a commit or `measured`: another Weir server, measured as `weir-before`; see `before-checkout.ts`. */
  before: string | undefined;
  /** The server whose figures are divided by those of the other servers. */
  baseline: string;
  /** If false, nothing is compiled and dnsperf generates the load. */
  native: boolean;
  /** Keeps the temporary folder with every configuration and log. */
  keep: boolean;
  quick: boolean;
  help: boolean;
}

export const HELP = `npm run bench -- [options]

  --suite a,b         peers, scaling, resolver, hot-path (all, or those whose --peers, --workload or --row is given)
  --row a,b           rows of scaling: workers, groups, policy, policy-change, names, cache,
                      lists, footprint, cold-start, home, disturbances; of resolver: hit-ratio, validation, upstream-faults (all)
  --peers a,b         servers to measure: weir, unbound, dnsmasq, pdns-recursor, dnsdist, bind9, echo (all installed)
  --workload a,b      workloads to run, files of test/bench/workloads (all)
  --rotations N       turns of every server, medians are over these (5)
  --secs N            seconds of one run (as the workload says)
  --names N           names of the block list (1000000)
  --quick             two rotations of 1.5 s, 100000 names: does everything work, no figures to keep
  --seed N            seed of everything generated (20260822)
  --base-port N       ports from here upwards are used, 30 of them (5600)
  --server-core N     the core the measured server runs on (0)
  --load-core N       the core of generator and upstream (1)
  --before WHICH      another Weir, measured beside this one as weir-before: a folder where it is installed, a
                      commit, or measured = the commit of docs/measurements.md
  --baseline NAME     ratios are taken to this server (weir)
  --no-native         no compiler: load with dnsperf, no echo server
  --keep              keep the temporary folder
  --help
`;

/** Parses the arguments after the script name; throws an Error that names the invalid argument. */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    allowPositionals: false,
    options: {
      suite: { type: 'string' },
      row: { type: 'string' },
      peers: { type: 'string' },
      workload: { type: 'string', multiple: true },
      rotations: { type: 'string' },
      secs: { type: 'string' },
      names: { type: 'string' },
      seed: { type: 'string' },
      'base-port': { type: 'string' },
      'server-core': { type: 'string' },
      'load-core': { type: 'string' },
      before: { type: 'string' },
      baseline: { type: 'string' },
      quick: { type: 'boolean' },
      'no-native': { type: 'boolean' },
      keep: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const quick = values.quick ?? false;
  const secs = quick ? 1.5 : undefined;
  const peers = words(values.peers);
  const rows = words(values.row);
  const workloads = words((values.workload ?? []).join(','));
  return {
    suites: chooseSuites(words(values.suite), {
      peers: peers.length + workloads.length > 0,
      rows: rows.length > 0,
    }),
    rows,
    peers,
    workloads,
    rotations: wholeNumber('rotations', values.rotations, quick ? 2 : 5, 1, 1000),
    secs: values.secs === undefined ? secs : positiveNumber('secs', values.secs),
    names: wholeNumber('names', values.names, quick ? 100_000 : 1_000_000, 100, 20_000_000),
    seed: wholeNumber('seed', values.seed, 20_260_822, 0, 2 ** 32 - 1),
    basePort: wholeNumber('base-port', values['base-port'], 5600, 1024, 65_500),
    serverCore: wholeNumber('server-core', values['server-core'], 0, 0, 4095),
    loadCore: wholeNumber('load-core', values['load-core'], 1, 0, 4095),
    before: values.before,
    baseline: values.baseline ?? 'weir',
    native: !(values['no-native'] ?? false),
    keep: values.keep ?? false,
    quick,
    help: values.help ?? false,
  };
}

function chooseSuites(wanted: readonly string[], named: { peers: boolean; rows: boolean }): Suite[] {
  const unknown = wanted.filter((name) => !SUITES.some((suite) => suite === name));
  if (unknown.length > 0)
    throw new Error(`read --suite: no suite ${unknown.join(', ')}; there are ${SUITES.join(', ')}`);
  if (wanted.length === 0 && (named.peers || named.rows))
    return SUITES.filter(
      (suite) => (suite === 'peers' && named.peers) || (named.rows && HAVE_ROWS.includes(suite)),
    );
  if (wanted.length === 0) return [...SUITES];
  return SUITES.filter((suite) => wanted.includes(suite));
}

function words(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function wholeNumber(
  option: string,
  text: string | undefined,
  fallback: number,
  min: number,
  max: number,
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`read --${option}: ${JSON.stringify(text)} is not a whole number from ${min} to ${max}`);
  return value;
}

function positiveNumber(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0)
    throw new Error(`read --${option}: ${JSON.stringify(text)} is not a positive number`);
  return value;
}
