/** @needs git */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Trials, filesOf } from './trials.ts';

let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'weir-checkout-'));
  mkdirSync(join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'a'));
  for (const file of ['a/kept.ts', 'a/deleted.ts', 'a/ignored.log'])
    writeFileSync(join(checkout, file), 'x;');
  writeFileSync(join(checkout, '.gitignore'), 'node_modules/\n*.log\n');
  execFileSync('git', ['init', '-q'], { cwd: checkout });
  execFileSync('git', ['add', '.'], { cwd: checkout });
  rmSync(join(checkout, 'a/deleted.ts'));
  writeFileSync(join(checkout, 'a/new.ts'), 'y;');
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

describe('filesOf(), the files to copy,', () => {
  test('lists tracked and untracked files, but no deleted or ignored files', () => {
    expect(filesOf(checkout).sort()).toEqual(['.gitignore', 'a/kept.ts', 'a/new.ts']);
  });
});

describe('Trials in a copy of the repository', () => {
  test('withText() changes only the copy of a file, and restores the copy even if its callback fails', async () => {
    const trials = new Trials(checkout);
    const copy = join(trials.root, 'a/kept.ts');
    const seen = await trials.withText('a/kept.ts', 'mutant;', async () => readFileSync(copy, 'utf8'));
    expect(seen).toBe('mutant;');
    expect(readFileSync(copy, 'utf8')).toBe('x;');
    const failing = trials.withText('a/kept.ts', 'mutant;', () => Promise.reject(new Error('of the work')));
    await expect(failing).rejects.toThrow('of the work');
    expect(readFileSync(copy, 'utf8')).toBe('x;');
    expect(readFileSync(join(checkout, 'a/kept.ts'), 'utf8')).toBe('x;');
    trials.close();
    expect(existsSync(trials.root)).toBe(false);
    expect(existsSync(join(checkout, 'node_modules'))).toBe(true);
  });
});
