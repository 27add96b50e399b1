// `npm run check`: runs the named checks, by default all, two at a time, the longest first. Prints the output of each
// check when the check ends, and lists the failed checks. Options are passed on if exactly one check is named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const IMPORTS = 'node_modules/.cache/imports.json';
/** The commands of each check. */
export const CHECKS = {
  lint: [
    'eslint --config .config/eslint.js --max-warnings 0 --cache --cache-location node_modules/.cache/weir/',
  ],
  types: ['tsc', 'tsc --project control-plane/dashboard'],
  layout: ['prettier --check --log-level warn .'],
  imports: [
    `depcruise --config .config/dependency-cruiser.cjs -T json -f ${IMPORTS} config shared dns-worker control-plane test`,
    `depcruise-fmt -e -T err ${IMPORTS}`,
    `node .config/directories.cjs ${IMPORTS}`,
  ],
  unused: ['knip --config .config/knip.json'],
  tested: ['node .config/tested.cjs', 'node .config/unsteady.js'],
  requirements: ['node .config/requirements.js'],
  failures: ['node .config/failures.js'],
  operations: ['node .config/operations.js'],
  config: ['node .config/config-reference.js'],
  cited: ['node .config/cited.cjs'],
  style: ['node .config/style.js'],
};
const AT_ONCE = 2;
const OPTIONS_OF_NODE = `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning`;

const HELP = `npm run check -- [NAME...] [OPTIONS]

Runs the checks that are named, or all: ${Object.keys(CHECKS).join(', ')}.
Options are for the one check that is named:
  --write    operations, failures, config: generates the files that the check compares
  --print    requirements: prints the tests of each requirement
  --help
`;

const failed = [];

/** Runs the checks that are named before the options, by default all. */
async function main(args) {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'));
  const named = firstOption === -1 ? args : args.slice(0, firstOption);
  const options = args.slice(named.length);
  if (options.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const unknown = named.find((name) => !Object.hasOwn(CHECKS, name));
  if (unknown !== undefined || (options.length > 0 && named.length !== 1)) {
    const fault =
      unknown === undefined ? `name the check that ${options[0]} is for` : `no check "${unknown}"`;
    console.error(`${fault}; the checks are ${Object.keys(CHECKS).join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const waiting = named.length > 0 ? [...named] : Object.keys(CHECKS);
  await Promise.all(Array.from({ length: AT_ONCE }, () => runChecks(waiting, options)));
  if (failed.length === 0) return;
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

async function runChecks(waiting, options) {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const sinceMs = performance.now();
    const command = [CHECKS[name].join(' && '), ...options].join(' ');
    const environment = { ...process.env, NODE_OPTIONS: OPTIONS_OF_NODE };
    const check = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment });
    const ended = once(check, 'close');
    const output = await Promise.all([text(check.stdout), text(check.stderr)]);
    const [code] = await ended;
    const secs = ((performance.now() - sinceMs) / 1000).toFixed(0);
    console.log(`${name}: ${code === 0 ? 'ok' : 'failed'} (${secs} s)`);
    for (const part of output) if (part.trim() !== '') console.log(part.trimEnd());
    if (code !== 0) failed.push(name);
  }
}

if (process.argv[1] === import.meta.filename) void main(process.argv.slice(2));
