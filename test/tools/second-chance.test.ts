/**
 * The runner of `npm test` on small projects, with files that always fail, fail once, or fail while other files run.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const RUNNER = join(ROOT, '.config', 'run-tests.js');
const REPORTER = join(ROOT, '.config', 'jest-results.cjs');

const PASSES = `test('passes', () => undefined);`;
const FAILS = `test('fails', () => { throw new Error('always'); });`;
/** The first run creates the file that makes the second run pass. */
const FAILS_ONCE = `const { existsSync, writeFileSync } = require('node:fs');
test('passes', () => undefined);
test('fails once', () => {
  const mark = __filename + '.mark';
  if (existsSync(mark)) return;
  writeFileSync(mark, '');
  throw new Error('no answer in time');
});`;

/** Runs these files, by name, as `npm test` runs those of Weir. */
function run(
  files: Readonly<Record<string, string>>,
  ...args: readonly string[]
): {
  status: number | null;
  output: string;
  lastLine: string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'weir-runs-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), text);
    const config = { rootDir: folder, reporters: [REPORTER], maxWorkers: 1 };
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [RUNNER, `--config=${JSON.stringify(config)}`, ...args],
      { cwd: ROOT, encoding: 'utf8' },
    );
    return { status, output: stdout + stderr, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('npm test', () => {
  it('reports a file that fails once as unsteady and succeeds', () => {
    const { status, output, lastLine } = run({ steady: PASSES, shaky: FAILS_ONCE });
    expect(output).toMatch(
      /Unsteady[^]*shaky\.test\.js\n {2}fails once, failed after \d+ ms\n[^]*no answer in time/,
    );
    expect(lastLine).toBe('3 passed, 0 failed');
    expect(status).toBe(0);
  });

  it('does not run failed files again when it is interrupted, and fails', () => {
    const interrupts = `test('interrupts', () => { process.kill(process.ppid, 'SIGTERM'); throw new Error('now'); });`;
    const { status, output } = run({ interrupts });
    expect(output).not.toContain('second chance');
    expect(status).toBe(1);
  });

  it('fails if a file fails twice', () => {
    const { status, output, lastLine } = run({ steady: PASSES, shaky: FAILS_ONCE, broken: FAILS });
    expect(output).toContain('second chance');
    expect(lastLine).toBe('3 passed, 1 failed');
    expect(status).toBe(1);
  });

  it('does not run failed files again if more than twelve files fail, and fails', () => {
    const shaky = Array.from('abcdefghijklm', (name) => [name, FAILS_ONCE] as const);
    const { status, output, lastLine } = run(Object.fromEntries(shaky));
    expect(output).toContain('13 files failed; at most 12 get a second chance');
    expect(lastLine).toBe('13 passed, 13 failed');
    expect(status).toBe(1);
  });

  it.each([
    ['cannot be loaded', 'throw new Error("broken import");', '1 passed, 1 failed'],
    ['skips a test', `${PASSES}\ntest.skip('skipped', () => undefined);`, '2 passed, 1 failed'],
    [
      'fails after its tests',
      `${PASSES}\nafterAll(() => { throw new Error('late'); });`,
      '2 passed, 1 failed',
    ],
  ])('fails if a file %s, even if another file is only unsteady', (_what, text, line) => {
    const alone = run({ steady: PASSES, faulty: text });
    expect([alone.lastLine, alone.status]).toEqual([line, 1]);
    expect(alone.output).toMatch(/Failed, with the first failure of each file:\n- [^]*faulty\.test\.js\n/);
    const beside = run({ shaky: FAILS_ONCE, faulty: text });
    expect(beside.output).toMatch(/Unsteady[^]*shaky\.test\.js/);
    expect(beside.status).toBe(1);
  });

  it('passes the options of the first run, such as --testNamePattern, to the retry', () => {
    const named = [`--testNamePattern=fails`, '--maxWorkers=2'];
    const { status, lastLine } = run({ broken: FAILS, other: PASSES }, ...named);
    expect([lastLine, status]).toEqual(['0 passed, 1 failed', 1]);
    const cured = run({ shaky: FAILS_ONCE }, ...named);
    expect([cured.lastLine, cured.status]).toEqual(['1 passed, 0 failed', 0]);
  });

  it('fails if jest ends without results', () => {
    expect(run({ gone: `test('ends', () => process.exit(0));` }).status).toBe(1);
  });
});
