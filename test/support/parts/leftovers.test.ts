/**
 * Tests that `.config/leftovers.cjs` ends processes that suites leave running, in a run of jest with suites whose
 * set-up fails half-way.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { isRunning } from '../weir/holder.ts';
import { makeTempDir } from './test-database.ts';

interface Leftovers {
  readonly children: () => string[];
  readonly endOthers: (known: ReadonlySet<string>) => Promise<void>;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const { children, endOthers } = createRequire(import.meta.url)(
  join(ROOT, '.config', 'leftovers.cjs'),
) as Leftovers;

const folder = makeTempDir();
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a shell with a child process and writes both process ids into a file. */
const START = `
const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
async function start(file) {
  spawn('sh', ['-c', 'sleep 1000 & echo $$ $! >"$0.new"; mv "$0.new" "$0"; wait', file], { detached: true });
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
  throw new Error('the set-up fails');
}`;

test('endOthers() ends unknown child processes and their children', async () => {
  const known = spawn('sleep', ['1000']);
  const before = new Set(children());
  expect(before).toContain(String(known.pid));
  const left = spawn('sh', ['-c', 'sleep 1000 & echo $!; wait']);
  const [child] = (await once(left.stdout, 'data')) as [Buffer];
  await endOthers(before);
  expect([known.pid!, left.pid!, Number(child)].map(isRunning)).toEqual([true, false, false]);
  known.kill();
});

test('a suite leaves no process if its set-up or its file fails', () => {
  const suites = {
    'hook.test.js': (file: string) => `beforeAll(() => start('${file}')); test('runs', () => undefined);`,
    'body.test.js': (file: string) =>
      `void start('${file}').catch(() => undefined); const until = Date.now() + 300;
      while (Date.now() < until); throw new Error('the file fails');`,
  };
  const files = Object.entries(suites).map(([name, suite]) => {
    const file = join(folder, `${name}.pids`);
    writeFileSync(join(folder, name), `${START}\n${suite(file)}\n`);
    return file;
  });
  const config = {
    rootDir: folder,
    testEnvironment: join(ROOT, '.config', 'jest-environment.cjs'),
    transform: {},
    cache: false,
  };
  const program = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status, stderr } = spawnSync(
    process.execPath,
    [program, '--config', JSON.stringify(config), '--maxWorkers', '1'],
    { cwd: folder, encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([1, expect.stringContaining('the set-up fails')]);
  const pids = files.flatMap((file) => readFileSync(file, 'utf8').trim().split(' ').map(Number));
  expect(pids).toHaveLength(4);
  expect(pids.filter(isRunning)).toEqual([]);
});
