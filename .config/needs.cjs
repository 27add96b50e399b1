// Skips the suites with requirements that this machine does not meet, and prints a line for each: `skipped: needs nsd
// test/lab/upstreams.test.ts`. The requirements of a suite are named in its opening comment (`@needs nsd root`), and in
// those of the modules of test/support that it imports: Debian packages, and privileges such as `root`, for creating
// namespaces and mounts. With WEIR_TEST_NO_SKIPS=1 an unmet requirement fails the run. jest calls this module as its
// `filter`; WEIR_TEST_SKIPPED contains the paths of the skipped suites, one per line.
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join, relative, resolve } = require('node:path');
const { CHROMIUM, PYTHON, findProgram } = require('../test/support/parts/programs.ts');

const ROOT = dirname(__dirname);
const WEIR = join(ROOT, 'control-plane/main.ts');
const NOBODY = { cwd: '/', uid: 65_534, gid: 65_534 };
const FIRST_OPEN_PORT = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const POSTGRES = '/usr/lib/postgresql';
const OPENING = /^(?:#!.*\n)?\s*\/\*\*(.*?)\*\//s;
const NAMED = /^[ \t]*(?:\*[ \t]*)?@needs[ \t]+([^\n*]+)/gm;
/** Imports of values from other files: types are gone when a suite runs. */
const IMPORTED = /^(?:import|export)\s+(?!type\b)[^;]*?from\s+'(\.{1,2}\/[^']+)'/gm;

const all =
  (...programs) =>
  () =>
    programs.every((name) => findProgram(name) !== null);
const any =
  (...programs) =>
  () =>
    programs.some((name) => findProgram(name) !== null);
const python = (module) => () => spawnSync(PYTHON, ['-c', `import ${module}`]).status === 0;

/** Checks whether each need is met. */
const NEEDS = {
  bind9: all('named'),
  'bind9-dnsutils': all('dig', 'delv'),
  'bind9-utils': all('dnssec-keygen', 'dnssec-signzone', 'dnssec-dsfromkey', 'named-checkzone'),
  bird2: all('bird', 'birdc'),
  chromium: any(...CHROMIUM),
  'closed-port-53': () => Number(readFileSync(FIRST_OPEN_PORT, 'utf8')) > 53,
  curl: all('curl'),
  dnsdist: all('dnsdist'),
  'dnsmasq-base': all('dnsmasq'),
  'dnstap-ldns': all('dnstap-ldns'),
  'docker-compose': all('docker-compose'),
  exabgp: all('exabgp'),
  'fstrm-bin': all('fstrm_capture'),
  git: all('git'),
  haproxy: all('haproxy'),
  iproute2: all('ip'),
  keepalived: all('keepalived'),
  'knot-dnsutils': all('kdig'),
  ldnsutils: all('drill', 'ldns-signzone'),
  nsd: all('nsd'),
  openssl: all('openssl'),
  pebble: all('pebble'),
  // Root runs such a suite as another user, who cannot access a checkout below /root.
  'ordinary-user': () =>
    process.getuid() !== 0 || spawnSync(process.execPath, [WEIR, '--version'], NOBODY).status === 0,
  pgbouncer: all('pgbouncer'),
  postgresql: () =>
    existsSync(POSTGRES) &&
    readdirSync(POSTGRES).some((major) => existsSync(join(POSTGRES, major, 'bin', 'postgres'))),
  prometheus: all('promtool'),
  'python3-dnspython': python('dns.version'),
  'python3-numpy': python('numpy'),
  'python3-zstandard': python('zstandard'),
  // Root in a container may lack the privilege.
  root: () => process.getuid() === 0 && spawnSync('unshare', ['--mount', '--net', 'true']).status === 0,
  unbound: all('unbound'),
};

const read = memo((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
const isMet = memo((need) => NEEDS[need]());

function memo(make) {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
}

/** Needs that the opening comment of a file names. @throws for one that is not in the table */
function namedIn(file) {
  const [, opening = ''] = OPENING.exec(read(file)) ?? [];
  const named = [...opening.matchAll(NAMED)].flatMap(([, words]) => words.trim().split(/[ ,]+/));
  const unknown = named.filter((need) => !Object.hasOwn(NEEDS, need));
  if (unknown.length > 0)
    throw new Error(`${relative(ROOT, file)} needs ${unknown.join(', ')}: add it to .config/needs.cjs`);
  return named;
}

/** Files of test/ that a file imports. */
function importsOf(file) {
  return [...read(file).matchAll(IMPORTED)]
    .map(([, path]) => resolve(dirname(file), path))
    .filter((path) => path.startsWith(join(ROOT, 'test/')));
}

/** Needs of a suite, sorted: its own and those of its imports. */
function needsOf(suite) {
  const seen = new Set([suite]);
  for (const file of seen) for (const imported of importsOf(file)) seen.add(imported);
  return [...new Set([...seen].flatMap(namedIn))].sort();
}

/** The suites that can run here, and the missing requirements of the others: [suite, needs]. */
function sortOut(suites) {
  const lacking = suites
    .map((suite) => [suite, needsOf(suite).filter((need) => !isMet(need))])
    .filter(([, missing]) => missing.length > 0);
  const left = new Set(lacking.map(([suite]) => suite));
  return { filtered: suites.filter((suite) => !left.has(suite)), lacking };
}

/** An error that jest prints without a stack trace. */
function plainError(message) {
  return Object.assign(new Error(message), { stack: message });
}

/** Ends a run in which every suite is skipped, with its results. */
function endWithoutSuites(skippedFiles) {
  const file = process.env.WEIR_TEST_RESULTS;
  if (file === undefined) console.log(`0 passed, 0 failed, ${skippedFiles.length} skipped`);
  else writeFileSync(file, JSON.stringify({ skippedFiles, testResults: [] }));
  process.exit(0);
}

module.exports = async (suites) => {
  const { filtered, lacking } = sortOut(suites);
  const lines = lacking.map(([suite, missing]) => `needs ${missing.join(', ')}  ${relative(ROOT, suite)}`);
  if (lines.length > 0 && process.env.WEIR_TEST_NO_SKIPS === '1')
    throw plainError(`no suite may be skipped (WEIR_TEST_NO_SKIPS=1):\n${lines.join('\n')}`);
  process.env.WEIR_TEST_SKIPPED = lacking.map(([suite]) => suite).join('\n');
  for (const line of lines.sort()) console.error(`skipped: ${line}`);
  // jest reports a run without any suite as an error, as for a mistyped path.
  if (filtered.length === 0 && lines.length > 0) {
    endWithoutSuites(lacking.map(([suite]) => suite));
  }
  return { filtered };
};
Object.assign(module.exports, { NEEDS, needsOf });
