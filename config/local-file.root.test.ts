/** @needs root */
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readLocal } from './local-file.ts';

const [WEIR, OTHER] = [64_996, 64_995];

test('readLocal() accepts a file of root or of the owner of its folder, and refuses a file of another user', async () => {
  const root = mkdtempSync(join(tmpdir(), 'weir-test-'));
  try {
    const folder = join(root, 'data');
    const path = join(folder, 'weir.local.toml');
    mkdirSync(folder);
    writeFileSync(path, 'a = 1\n');
    chownSync(folder, WEIR, WEIR);
    expect(await readLocal(path)).toEqual({ text: 'a = 1\n' });
    chownSync(path, WEIR, WEIR);
    expect(await readLocal(path)).toEqual({ text: 'a = 1\n' });
    chownSync(path, OTHER, OTHER);
    expect(await readLocal(path)).toEqual({
      fault: 'it belongs to user id 64995, but the directory does not',
    });
  } finally {
    rmSync(root, { recursive: true });
  }
});
