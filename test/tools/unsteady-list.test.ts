/** Tests of the faults that `npm run check` finds in the list of unsteady files. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const CHECK = join(import.meta.dirname, '..', '..', '.config', 'unsteady.js');

const row = (file: string, cause = 'a short time limit', fixed = ''): string =>
  `| 2026-11-28 | \`test/${file}\` | answers | ${cause} | ${fixed} |`;

/** Output of the check for a list with these rows, in a project with two test files, a and b. */
function faultsOf(...rows: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'weir-unsteady-'));
  try {
    mkdirSync(join(folder, 'test'));
    for (const name of ['a.test.ts', 'b.test.ts']) writeFileSync(join(folder, 'test', name), '');
    const table = ['| Date | File | Test | Suspected cause | Fixed |', '| --- | --- | --- | --- | --- |'];
    writeFileSync(join(folder, 'test', 'unsteady.md'), `# Unsteady\n\n${[...table, ...rows].join('\n')}\n`);
    const { status, stderr } = spawnSync(process.execPath, [CHECK], { cwd: folder, encoding: 'utf8' });
    const faults = stderr.split('\n').filter(Boolean);
    expect(status).toBe(faults.length === 0 ? 0 : 1);
    return faults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('npm run check -- tested, for test/unsteady.md,', () => {
  it('accepts a file once, and again after a fix', () => {
    expect(faultsOf(row('a.test.ts'), row('b.test.ts'))).toEqual([]);
    expect(faultsOf(row('a.test.ts', 'a race', '2026-11-29'), row('a.test.ts'))).toEqual([]);
  });

  it('rejects a file that is listed twice and not fixed', () => {
    expect(faultsOf(row('a.test.ts'), row('a.test.ts'))).toEqual([
      'test/unsteady.md: test/a.test.ts was unsteady twice: fix it first',
    ]);
  });

  it('rejects a row without a suspected cause', () => {
    expect(faultsOf(row('a.test.ts', ''))).toEqual([
      'test/unsteady.md: test/a.test.ts has no suspected cause',
    ]);
  });

  it('rejects a file that does not exist', () => {
    expect(faultsOf(row('gone.test.ts'))).toEqual(['test/unsteady.md: no such file test/gone.test.ts']);
  });
});
