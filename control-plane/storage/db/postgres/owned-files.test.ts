import { afterEach, describe, expect, test } from '@jest/globals';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { makeOwnedFolder, replaceOwnedFile, writeOwnedFile } from './owned-files.ts';
import type { PostgresAccount } from './postgres-account.ts';

const isRoot = process.geteuid?.() === 0;
const uid = process.geteuid?.() ?? 0;
/** Another user if the test may change owners, or the current user. */
const account: PostgresAccount = isRoot
  ? { name: 'other', uid: 64999, gid: 64998, isSelf: false }
  : { name: 'self', uid, gid: process.getegid?.() ?? 0, isSelf: true };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = makeTempDir();
  folders.push(folder);
  return folder;
}

describe('writeOwnedFile()', () => {
  test('writes a file that only the account can read', () => {
    const file = join(newFolder(), 'secret');
    writeOwnedFile(file, 'text', account);
    const { uid: owner, gid, mode } = statSync(file);
    expect([owner, gid, mode & 0o777]).toEqual([account.uid, account.gid, 0o600]);
    expect(readFileSync(file, 'utf8')).toBe('text');
  });

  test.each([
    ['a symbolic link to a file', (path: string, victim: string) => symlinkSync(victim, path)],
    [
      'a symbolic link to a missing file',
      (path: string, victim: string) => symlinkSync(`${victim}.new`, path),
    ],
    ['a file', (path: string) => writeFileSync(path, 'theirs')],
  ])('does not write to anything that the account has created in place of the file: %s', (_what, put) => {
    const folder = newFolder();
    const [file, victim] = [join(folder, 'secret'), join(folder, 'victim')];
    writeFileSync(victim, 'untouched', { mode: 0o600 });
    put(file, victim);
    expect(() => writeOwnedFile(file, 'text', account)).toThrow('EEXIST');
    expect([readFileSync(victim, 'utf8'), statSync(victim).uid, existsSync(`${victim}.new`)]).toEqual([
      'untouched',
      uid,
      false,
    ]);
  });
});

describe('replaceOwnedFile()', () => {
  test('writes for the owner of the folder, and replaces a symbolic link instead of following it', () => {
    const folder = newFolder();
    const [file, victim] = [join(folder, 'secret'), join(folder, 'victim')];
    writeFileSync(victim, 'untouched');
    if (isRoot) chownSync(folder, account.uid, account.gid);
    for (const name of ['secret', `secret.${process.pid}.tmp`]) symlinkSync(victim, join(folder, name));
    replaceOwnedFile(file, 'one');
    replaceOwnedFile(file, 'two');
    const { uid: owner, mode } = lstatSync(file);
    expect([owner, mode & 0o777, readFileSync(file, 'utf8')]).toEqual([account.uid, 0o600, 'two']);
    expect([readFileSync(victim, 'utf8'), statSync(victim).uid]).toEqual(['untouched', uid]);
  });
});

describe('makeOwnedFolder()', () => {
  test('creates a folder that only the account can access', () => {
    const folder = join(newFolder(), 'home');
    makeOwnedFolder(folder, account);
    const { uid: owner, gid, mode } = statSync(folder);
    expect([owner, gid, mode & 0o777]).toEqual([account.uid, account.gid, 0o700]);
  });

  test('does not change the owner of existing files', () => {
    const root = newFolder();
    const [folder, victim] = [join(root, 'home'), join(root, 'victim')];
    mkdirSync(victim);
    symlinkSync(victim, folder);
    expect(() => makeOwnedFolder(folder, account)).toThrow('EEXIST');
    expect(statSync(victim).uid).toBe(uid);
  });
});
