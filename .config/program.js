// Runs a program by its purpose and name: `npm run bench -- api --help` runs test/bench/api/api-bench.ts. Without a
// name, runs the default program of the purpose; with --help, also lists the names. Usage: node .config/program.js
// PURPOSE [NAME] [ARGUMENTS]
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const JEST =
  'node --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js';
const TRIALS = `${JEST} --testMatch '<rootDir>/test/artefacts/*.trial.ts' --runInBand --testTimeout 1800000`;
const MANY =
  'WEIR_TEST_SEED=$(date +%s) WEIR_TEST_PACKETS=500000 WEIR_TEST_KILLS=50 WEIR_TEST_EDITS=1000 WEIR_TEST_SEQUENCES=10000';

/** Programs by purpose and name: a module, or a shell command. The default program has an empty name and is first. */
export const PROGRAMS = {
  attack: { '': 'test/attack/under-attack.ts' },
  bench: {
    '': 'test/bench/run.ts',
    api: 'test/bench/api/api-bench.ts',
    cluster: 'test/bench/cluster/cluster-bench.ts',
    dashboard: 'test/bench/dashboard/dashboard-bench.ts',
    'dashboard-load': 'test/bench/dashboard/dashboard-load.ts',
    edge: 'test/bench/edge/edge-bench.ts',
    filter: 'node --expose-gc test/bench/filter-bench.ts',
    join: 'test/bench/cluster/join-bench.ts',
    log: 'test/bench/stored-log/log-bench.ts',
    'log-in-use': 'test/bench/stored-log/log-in-use.ts',
    simulate: 'test/bench/stored-log/simulate-bench.ts',
    soak: 'test/bench/soak/soak.ts',
    upgrade: 'test/bench/upgrade/upgrade-bench.ts',
    'upgrade-matrix': 'test/bench/upgrade/upgrade-matrix.ts',
    validation: 'test/lab/dnssec/measure.ts',
  },
  demo: { '': 'test/demo/demo.ts', pictures: 'test/demo/pictures.ts' },
  dashboard: {
    '': 'node node_modules/vite/bin/vite.js --config control-plane/dashboard/vite.config.ts',
    build: 'control-plane/dashboard/build/build-dashboard.ts',
  },
  exactness: { '': 'test/exactness/exactness.ts', cluster: 'test/exactness/cluster.ts' },
  fuzz: {
    '': 'test/fuzz/fuzz.ts',
    api: 'test/api/properties/api-properties.ts',
    answers: 'test/differential/differential.ts',
  },
  lab: {
    '': `WEIR_TEST_VALIDATORS=all ${JEST} test/lab`,
    conformance: `WEIR_TEST_WAYS=all ${JEST} test/conformance`,
    long: `${MANY} ${JEST} packet-storm bad-input killed-compile rule-edits limits-model`,
  },
  mutants: { '': 'test/mutants/draw-and-try.ts', keys: 'test/mutants/ignored-keys.ts' },
  replay: { '': 'test/replay/replay.ts', lists: 'test/lists/check-real-lists.ts' },
  artefacts: {
    '': `deploy/build/deb && deploy/build/deb arm64 && deploy/build/image && deploy/build/checksums &&
      node .config/sbom.js && node .config/audit-report.js && ${TRIALS}`,
    deb: 'deploy/build/deb',
    image: 'deploy/build/image',
    sbom: 'node .config/sbom.js',
    audit: 'node .config/audit-report.js',
    checksums: 'deploy/build/checksums',
    vendors: 'node .config/vendors.js',
    try: TRIALS,
  },
};

async function run([purpose, ...args]) {
  const isNamed = args.length > 0 && args[0] !== '' && Object.hasOwn(PROGRAMS[purpose], args[0]);
  const program = PROGRAMS[purpose][isNamed ? args.shift() : ''];
  const isCommand = !program.endsWith('.ts') || program.includes(' ');
  if (args.includes('--help')) {
    if (!isNamed) listNames(purpose);
    const help = isCommand ? `Runs: ${program}` : commentOf(program);
    if (help !== null) {
      console.log(help);
      return;
    }
  }
  if (isCommand) {
    runCommand(program, args);
    return;
  }
  const file = resolve(program);
  process.argv = [process.argv[0], file, ...args];
  await import(pathToFileURL(file).href);
}

/** Prints the names of the other programs of a purpose, which the help of the default program does not mention. */
function listNames(purpose) {
  const names = Object.keys(PROGRAMS[purpose]).filter((name) => name !== '');
  if (names.length > 0)
    console.log(`npm run ${purpose} -- NAME [options], with one of: ${names.join(', ')}\n`);
}

/** The comment at the top of a module that has no help; null if the module has its own help. */
function commentOf(file) {
  const source = readFileSync(file, 'utf8');
  if (/^const HELP\b|\bHELP\b.*from/m.test(source)) return null;
  const [comment] = /^(?:\/\*\*.*?\*\/|(?:\/\/[^\n]*\n)+)/s.exec(source) ?? [''];
  return comment.replaceAll(/^(?:\/\*\*| \*\/| \*|\/\/) ?/gm, '').trim();
}

/** Runs a shell command with these arguments, and ends with its status. */
function runCommand(command, args) {
  const child = spawn('sh', ['-c', `${command} "$@"`, 'sh', ...args], { stdio: 'inherit' });
  // A terminal sends Ctrl+C to the command as well, so this process only waits.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('close', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

if (process.argv[1] === import.meta.filename) void run(process.argv.slice(2));
