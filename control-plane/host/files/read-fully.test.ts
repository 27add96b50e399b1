import { type FileHandle, mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFully } from './read-fully.ts';

/** Three reads and a part of a fourth. */
const SIZE_BYTES = 200_000;
const CONTENT = Uint8Array.from({ length: SIZE_BYTES }, (_, at) => (at * 7) ^ (at >>> 8));

let folder: string;
let path: string;
let file: FileHandle;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-read-fully-'));
  path = join(folder, 'content');
  await writeFile(path, CONTENT);
  file = await open(path, 'r+');
});

afterEach(async () => {
  jest.restoreAllMocks();
  await writeFile(path, CONTENT);
});

afterAll(async () => {
  await file.close();
  await rm(folder, { recursive: true });
});

describe('readFully()', () => {
  test.each([
    ['the whole file', 0, SIZE_BYTES],
    ['a part within it', 70_001, 65_536],
    ['its last byte', SIZE_BYTES - 1, 1],
  ])('reads %s', async (_, from, length) => {
    const bytes = new Uint8Array(length);
    expect(await readFully(file, bytes, from)).toBe(true);
    expect(Buffer.from(bytes).equals(CONTENT.subarray(from, from + length))).toBe(true);
  });

  test('reads zero bytes without a system call, even beyond the end of the file', async () => {
    const read = jest.spyOn(file, 'read');
    expect(await readFully(file, new Uint8Array(0), SIZE_BYTES + 5)).toBe(true);
    expect(read).not.toHaveBeenCalled();
  });

  test.each([
    ['one byte beyond the end', 1, SIZE_BYTES],
    ['bytes from the end', SIZE_BYTES, 1],
    ['bytes from beyond the end', SIZE_BYTES + 5, 1],
  ])('reports the end of the file if it reads %s', async (_, from, length) => {
    expect(await readFully(file, new Uint8Array(length), from)).toBe(false);
  });

  test('reports a file that is truncated while it is read', async () => {
    const read = file.read.bind(file) as (...range: unknown[]) => Promise<{ bytesRead: number }>;
    jest.spyOn(file, 'read').mockImplementationOnce(async (...range: unknown[]) => {
      const result = await read(...range);
      await truncate(path, 70_000);
      return result as never;
    });
    expect(await readFully(file, new Uint8Array(SIZE_BYTES), 0)).toBe(false);
  });

  test('continues after reads that return less than requested', async () => {
    const read = file.read.bind(file) as (
      bytes: Uint8Array,
      at: number,
      length: number,
      from: number,
    ) => Promise<{ bytesRead: number }>;
    const asked: number[] = [];
    jest.spyOn(file, 'read').mockImplementation((async (
      bytes: Uint8Array,
      at: number,
      length: number,
      from: number,
    ) => {
      asked.push(length);
      return read(bytes, at, Math.ceil(length / 3), from);
    }) as never);
    const bytes = new Uint8Array(100_000);
    expect(await readFully(file, bytes, 50_000)).toBe(true);
    expect(Buffer.from(bytes).equals(CONTENT.subarray(50_000, 150_000))).toBe(true);
    expect(Math.max(...asked)).toBe(64 * 1024);
  });
});
