import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApiError } from '../../api/api-error.ts';
import { refuseOtherFolders } from './list-folder.ts';

let root: string;
let lists: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-folders-'));
  lists = join(root, 'lists');
  mkdirSync(lists);
  writeFileSync(join(lists, 'a.txt'), 'a.example\n');
  writeFileSync(join(root, 'secret'), 'secret\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const check = (path: string): Promise<void> => refuseOtherFolders(pathToFileURL(path).href, [lists]);

describe('refuseOtherFolders()', () => {
  test('accepts files below a list folder, even missing ones, and all web URLs', async () => {
    await check(join(lists, 'a.txt'));
    await check(join(lists, 'not', 'there', 'yet.txt'));
    await refuseOtherFolders('https://lists.example/a.txt', [lists]);
    rmSync(lists, { recursive: true });
    await check(join(lists, 'a.txt'));
  });

  test('accepts a missing file below a list folder that is a symbolic link', async () => {
    symlinkSync(lists, join(root, 'link'));
    const path = join(root, 'link', 'later', 'a.txt');
    await refuseOtherFolders(pathToFileURL(path).href, [join(root, 'link')]);
    await check(path);
  });

  test.each([
    ['a file next to the list folder', () => join(root, 'secret')],
    ['the list folder itself', () => lists],
    ['a file in a folder with a similar name', () => `${lists}-other/a.txt`],
    [
      'a symbolic link that leaves the list folder',
      () => (symlinkSync(join(root, 'secret'), join(lists, 'link')), join(lists, 'link')),
    ],
    [
      'a missing file behind a symbolic link that leaves the list folder',
      () => (symlinkSync(root, join(lists, 'out')), join(lists, 'out', 'later.txt')),
    ],
    ['a system file', () => '/etc/hostname'],
  ])('refuses %s', async (_what, path) => {
    await expect(check(path())).rejects.toThrow(ApiError);
  });

  test.each(['%2f', '%2F..%2fsecret', '%00', 'a%00.txt'])(
    'refuses a URL that contains %s with 400',
    async (name) => {
      const url = `${pathToFileURL(lists).href}/${name}`;
      await expect(refuseOtherFolders(url, [lists])).rejects.toMatchObject({ name: 'ApiError', status: 400 });
    },
  );
});
