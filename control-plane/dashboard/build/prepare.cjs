// Builds the dashboard and the bundle when Weir is installed: `npm ci` runs this after the packages are there, on whatever
// Node runs npm. It hands over to the Node that the packages brought along. An installation without a dashboard answers DNS
// all the same, and `npm start` tries again; without a bundle the sources run. So nothing that goes wrong here ends npm.
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const ROOT = join(__dirname, '..', '..', '..');
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const VITE = join(ROOT, 'node_modules', 'vite', 'package.json');
/** On a small machine under load a build takes two minutes. */
const MAX_MS = 15 * 60 * 1000;

const DASHBOARD = [join(__dirname, 'build-dashboard.ts'), '--if-changed'];
const BUNDLE = [join(ROOT, 'deploy', 'build', 'bundle.ts')];

/** Runs a program of the build; returns why it made nothing, or null. */
function prepare(program) {
  for (const needed of [NODE, VITE, program[0]]) if (!existsSync(needed)) return `${needed} is not there`;
  const args = ['--disable-warning=ExperimentalWarning', ...program];
  const ended = spawnSync(NODE, args, {
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
    timeout: MAX_MS,
    killSignal: 'SIGKILL',
  });
  if (ended.error !== undefined) return ended.error.message;
  if (ended.status === 0) return null;
  return lastLine(ended.stderr) || `the build ended with ${ended.signal ?? ended.status}`;
}

/** The error message of a build, which is its last line. */
function lastLine(text) {
  return text.trim().split('\n').at(-1);
}

const withoutDashboard = prepare(DASHBOARD);
if (withoutDashboard !== null)
  console.error(
    `weir: the dashboard is not built yet; npm start tries again. The reason: ${withoutDashboard}`,
  );
const withoutBundle = prepare(BUNDLE);
if (withoutBundle !== null)
  console.error(`weir: the code is not bundled, so Weir takes more memory. The reason: ${withoutBundle}`);
