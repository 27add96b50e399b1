import { expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderBytes } from './folder-bytes.ts';

test('folderBytes() adds up the sizes of files without those of folders, and is null for a missing folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bytes-'));
  writeFileSync(join(folder, 'a'), 'x'.repeat(100));
  writeFileSync(join(folder, 'b'), 'x'.repeat(23));
  mkdirSync(join(folder, 'c'));
  writeFileSync(join(folder, 'c', 'd'), 'x');
  expect(await folderBytes(folder)).toBe(123);
  rmSync(folder, { recursive: true });
  expect(await folderBytes(folder)).toBeNull();
});
