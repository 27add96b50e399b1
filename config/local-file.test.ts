import { afterEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isUnwritable, readLocal, writeLocal } from './local-file.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
  folders.push(folder);
  return join(folder, 'weir.local.toml');
}

describe('readLocal()', () => {
  test('returns the text that writeLocal() stored in a file that only the owner can access', async () => {
    const path = newPath();
    await writeLocal(path, 'a = 1\n');
    await writeLocal(path, 'a = 2\n');
    expect([await readLocal(path), statSync(path).mode & 0o777]).toEqual([{ text: 'a = 2\n' }, 0o600]);
    expect(readdirSync(join(path, '..'))).toEqual(['weir.local.toml']);
  });

  test('returns null if there is no file or no directory, or if an empty text was stored', async () => {
    const path = newPath();
    expect([await readLocal(path), await readLocal(join(path, 'x', 'y'))]).toEqual([null, null]);
    await writeLocal(path, 'a = 1\n');
    await writeLocal(path, '');
    expect(await readLocal(path)).toBeNull();
  });

  test.each([
    ['a link', (path: string) => symlinkSync('/etc/passwd', path), 'a link'],
    ['a folder', (path: string) => mkdirSync(path), 'not an ordinary file'],
    [
      'a named pipe, without waiting for a writer',
      (path: string) => execFileSync('mkfifo', [path]),
      'not an ordinary file',
    ],
    [
      'a file that its group can write',
      (path: string) => {
        writeFileSync(path, '');
        chmodSync(path, 0o620);
      },
      'other users can write to it; run chmod go-w',
    ],
    [
      'bytes that are not text',
      (path: string) => writeFileSync(path, Buffer.of(0xff, 0xfe)),
      'its bytes are not UTF-8',
    ],
    [
      'a huge file',
      (path: string) => {
        writeFileSync(path, '');
        truncateSync(path, 2 ** 33);
      },
      'longer than 1048576 bytes',
    ],
  ])('refuses %s', async (_what, put, fault) => {
    const path = newPath();
    put(path);
    expect(await readLocal(path)).toEqual({ fault });
  });
});

test('writeLocal() replaces a symbolic link instead of following it', async () => {
  const path = newPath();
  const victim = `${path}.victim`;
  writeFileSync(victim, 'untouched');
  symlinkSync(victim, path);
  symlinkSync(victim, `${path}.${process.pid}.tmp`);
  await writeLocal(path, 'a = 1\n');
  expect([await readLocal(path), await readLocal(victim)]).toEqual([
    { text: 'a = 1\n' },
    { text: 'untouched' },
  ]);
});

test.each([
  ['EACCES', true],
  ['EPERM', true],
  ['EROFS', true],
  ['ENOSPC', false],
])('isUnwritable() of %s is %s', (code, expected) => {
  expect(isUnwritable(Object.assign(new Error(code), { code }))).toBe(expected);
});
