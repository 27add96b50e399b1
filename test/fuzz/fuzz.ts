/**
 * `npm run fuzz -- [target…] [--secs N | --runs N] [--seed N] [--keep]`: fuzzes the targets one after another, each in
 * a separate process for N CPU seconds or N runs; fails if there are findings. The same seed and number of runs use the
 * same inputs on every machine. `--keep` writes the new corpus. `npm run fuzz -- TARGET --repeat FILE` runs one input.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fuzzTarget } from './fuzz-process.ts';
import { loadTarget, TARGETS } from './targets.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join('data', 'fuzz');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    secs: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    keep: { type: 'boolean', default: false },
    repeat: { type: 'string' },
    /** Set in the process of one target. */
    alone: { type: 'boolean', default: false },
  },
});
const chosen = positionals.length === 0 ? Object.keys(TARGETS) : positionals;
const runs = Number(values.runs ?? Infinity);
const secs = Number(values.secs ?? (values.runs === undefined ? 60 : Infinity));
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed) || !(secs > 0) || !(runs > 0))
  throw new Error('fuzz: --secs, --runs and --seed are numbers');

if (values.repeat !== undefined) await repeat(chosen[0]!, values.repeat);
else if (values.alone) await one(chosen[0]!);
else process.exitCode = all();

function all(): number {
  const bound = runs === Infinity ? `${String(secs)} s` : `${String(runs)} runs`;
  print(`seed ${String(seed)}, ${bound} for each of ${String(chosen.length)} targets`);
  let failed = 0;
  for (const target of chosen) {
    const flags = values.keep ? ['--keep'] : [];
    const bounds = ['--secs', String(secs), '--runs', String(runs)];
    const args = [target, '--alone', ...bounds, '--seed', String(seed), ...flags];
    const { status } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, ...args], {
      stdio: 'inherit',
      cwd: ROOT,
    });
    if (status !== 0) failed++;
  }
  print(failed === 0 ? 'nothing found' : `${String(failed)} targets with findings`);
  return failed === 0 ? 0 : 1;
}

async function one(target: string): Promise<void> {
  await loadTarget(target);
  const { findings } = await fuzzTarget(
    { target, seed, secs, runs, keep: values.keep, folder: FOLDER },
    print,
  );
  process.exitCode = findings === 0 ? 0 : 1;
}

async function repeat(name: string, path: string): Promise<void> {
  const target = await loadTarget(name);
  const started = process.cpuUsage();
  await target.run(new Uint8Array(readFileSync(path)));
  const { user, system } = process.cpuUsage(started);
  print(`${name}: nothing found, ${((user + system) / 1000).toFixed(0)} ms`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
