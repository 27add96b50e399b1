import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { type Frame, FRAME, readFrames, writeFrames } from './row-frames.ts';

let folder: string;
beforeAll(() => {
  folder = makeTempDir();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FRAMES: readonly Frame[] = [
  { type: FRAME.head, payload: Buffer.from('{}') },
  { type: FRAME.data, payload: Buffer.alloc(3_000_000, 7) },
  { type: FRAME.data, payload: Buffer.alloc(0) },
];

async function* given(): AsyncGenerator<Frame> {
  yield* FRAMES;
}

async function read(bytes: Buffer): Promise<Frame[]> {
  await writeFile(join(folder, 'file'), bytes);
  return Array.fromAsync(readFrames(join(folder, 'file')));
}

describe('readFrames()', () => {
  test('returns what writeFrames() wrote', async () => {
    const bytes = Buffer.concat(await Array.fromAsync(writeFrames(given())));
    expect(await read(bytes)).toEqual(FRAMES);
    expect((await readFile(join(folder, 'file'))).length).toBe(bytes.length);
  });

  test('refuses a truncated or changed file', async () => {
    const bytes = Buffer.concat(await Array.fromAsync(writeFrames(given())));
    const changed = Buffer.from(bytes);
    changed[bytes.length >> 1]! ^= 1;
    await expect(read(bytes.subarray(0, -1))).rejects.toThrow('truncated');
    await expect(read(bytes.subarray(0, 1000))).rejects.toThrow('truncated');
    await expect(read(changed)).rejects.toThrow('damaged');
    await expect(read(Buffer.concat([bytes, bytes]))).rejects.toThrow('damaged');
    await expect(read(Buffer.alloc(0))).rejects.toThrow('not a full copy');
    const huge = Buffer.from(bytes);
    huge.writeUInt32BE(0xffff_ffff, 18);
    await expect(read(huge)).rejects.toThrow('damaged');
  });
});
