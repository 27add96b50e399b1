import { afterEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { within } from '../../../test/support/parts/until.ts';
import { DataDirError, lockDataDir } from './data-dir-lock.ts';

const dirs: string[] = [];
function tempDir(): string {
  const dir = makeTempDir();
  dirs.push(dir);
  return dir;
}
afterEach(() => {
  // Kills child processes of failed tests, which would keep jest from exiting.
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const children: ChildProcess[] = [];

/** Starts a process that locks the directory, keeps no reference to the lock, collects garbage and keeps running. */
async function holdElsewhere(dataDir: string): Promise<{ pid: number; kill(): Promise<void> }> {
  const program = `import { lockDataDir } from ${JSON.stringify(new URL('./data-dir-lock.ts', import.meta.url).href)};
    lockDataDir(${JSON.stringify(dataDir)});
    for (let turn = 0; turn < 3; turn++) { gc(); await new Promise(setImmediate); }
    process.stdout.write('locked'); setInterval(() => {}, 60000);`;
  const options = ['--expose-gc', '--input-type=module-typescript', '--eval', program];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const ended = once(child, 'close').then(() => {
    throw new Error('the other process ended without the lock');
  });
  await within('the other process to lock the directory', Promise.race([once(child.stdout, 'data'), ended]));
  ended.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await within('the killed process to end', once(child, 'close'));
    },
  };
}

describe('lockDataDir()', () => {
  test('creates the directory, and release() lets the next process lock it', () => {
    const dataDir = join(tempDir(), 'a', 'b');
    const first = lockDataDir(dataDir);
    expect(existsSync(dataDir)).toBe(true);
    first.release();
    const second = lockDataDir(dataDir);
    expect(second.dataDir).toBe(dataDir);
    second.release();
  });

  test('prevents other users from reading the lock file, and so from locking it', () => {
    const dataDir = tempDir();
    const file = join(dataDir, 'lock');
    lockDataDir(dataDir).release();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['a symbolic link', (file: string) => symlinkSync(`${file}.victim`, file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ])('refuses %s in place of the lock file, and does not change it', (_what, put) => {
    const dataDir = tempDir();
    const file = join(dataDir, 'lock');
    lockDataDir(dataDir).release();
    rmSync(file);
    writeFileSync(`${file}.victim`, '', { mode: 0o644 });
    put(file);
    expect(() => lockDataDir(dataDir)).toThrow(/lock is not a regular file/);
    expect(statSync(`${file}.victim`).mode & 0o777).toBe(0o644);
  });

  test('refuses a directory that this process has already locked, and keeps the lock', async () => {
    const dataDir = tempDir();
    const lock = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow(expect.objectContaining({ reason: 'in_use' }));
    await expect(holdElsewhere(dataDir)).rejects.toThrow();
    lock.release();
  });

  test('refuses a directory while another process has locked it, and names the directory and the process', async () => {
    const dataDir = tempDir();
    const holder = await holdElsewhere(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow(
      `data directory ${dataDir} is in use by another Weir process (process ${holder.pid})`,
    );
    await holder.kill();
    lockDataDir(dataDir).release();
  });

  test('ignores a stale pid file, even if it contains the ID of this process', () => {
    const dataDir = tempDir();
    writeFileSync(join(dataDir, 'weir.pid'), `${process.pid}\n`);
    lockDataDir(dataDir).release();
  });

  test('does not follow a symbolic link to write its process ID', () => {
    const dataDir = tempDir();
    const victim = join(dataDir, 'victim');
    writeFileSync(victim, 'untouched');
    symlinkSync(victim, join(dataDir, 'weir.pid'));
    lockDataDir(dataDir).release();
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
  });

  test('refuses a directory from before 0.1.0, leaves it unchanged and explains how to keep its settings', () => {
    const dataDir = tempDir();
    for (const file of ['lock', 'node-uuid']) writeFileSync(join(dataDir, file), '', { mode: 0o600 });
    expect(() => lockDataDir(dataDir)).toThrow(
      expect.objectContaining({
        reason: 'unusable',
        message: expect.stringMatching(
          /^data directory .* older than 0\.1\.0 .*"weir backup FILE".*"weir restore FILE"$/,
        ),
      }),
    );
    expect(readdirSync(dataDir).sort()).toEqual(['lock', 'node-uuid']);
  });

  test('reports why a directory cannot be created', () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    const attempt = (): unknown => lockDataDir(join(file, 'data'));
    expect(attempt).toThrow(DataDirError);
    expect(attempt).toThrow(
      `could not create data directory ${file}/data: a part of the path is not a directory`,
    );
  });
});
