import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogBatch } from './log-batch.ts';
import { LogSpool, frameHeader } from './log-spool.ts';

const MIB = 1024 * 1024;

let dir: string;

beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'weir-spool-')), 'spool');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

function batch(id: string, rowCount = 1, size = 10): LogBatch {
  // The bytes contain newlines and a text like a header, which must not end a batch early.
  return { id, rowCount, bytes: Buffer.alloc(size, `${id}\n{"id":"x"}\n`) };
}

/** A batch that needs exactly this number of bytes in a file; the length of its id is chosen accordingly. */
function batchOf(letter: string, frameBytes: number): LogBatch {
  const sized = batch(letter, 1, frameBytes - 200);
  const missing = frameBytes - frameHeader(sized).length - sized.bytes.length;
  return { ...sized, id: letter.repeat(1 + missing) };
}

async function openSpool(maxBytes = 10 * MIB): Promise<LogSpool> {
  const spool = new LogSpool(dir, maxBytes);
  await spool.open();
  return spool;
}

/** Ids of the batches in each file, oldest first; removes the files. */
async function drained(spool: LogSpool): Promise<string[][]> {
  const files: string[][] = [];
  for (let file = await spool.oldest(); file !== undefined; file = await spool.oldest()) {
    expect(file.isDamaged).toBe(false);
    files.push(file.batches.map(({ id }) => id));
    await spool.remove(file.name);
  }
  return files;
}

describe('LogSpool', () => {
  test('oldest() returns batches as they were added, even across a restart', async () => {
    const first = await openSpool();
    expect(await first.oldest()).toBeUndefined();
    expect(await first.add(batch('a', 3))).toBe(0);
    expect(await first.add(batch('b', 4, 0))).toBe(0);
    const second = await openSpool();
    const file = await second.oldest();
    expect(file?.isDamaged).toBe(false);
    expect(file?.batches).toEqual([batch('a', 3), batch('b', 4, 0)]);
  });

  test('add() writes files that only Weir can read, and appends batches to one file until it is full', async () => {
    const spool = await openSpool();
    await spool.add(batchOf('a', MIB / 2));
    await spool.add(batchOf('b', MIB / 2));
    await spool.add(batch('c'));
    const names = readdirSync(dir);
    expect(names).toEqual(['000000000001.blocks', '000000000002.blocks']);
    expect(statSync(join(dir, names[0]!)).size).toBe(MIB);
    expect([dir, join(dir, names[0]!)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    expect((await drained(spool)).map((ids) => ids.map((id) => id[0]))).toEqual([['a', 'b'], ['c']]);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('add() appends nothing to a file that is being read, or to a file of an earlier run', async () => {
    const first = await openSpool();
    await first.add(batch('a'));
    await first.oldest();
    await first.add(batch('b'));
    const second = await openSpool();
    await second.add(batch('c'));
    expect(await drained(second)).toEqual([['a'], ['b'], ['c']]);
  });

  test('add() deletes the oldest files to free space, and returns the number of lost rows', async () => {
    const size = frameHeader(batch('a', 1, MIB)).length + MIB;
    const spool = await openSpool(2 * size);
    expect(await spool.add(batch('a', 1, MIB))).toBe(0);
    expect(await spool.add(batch('b', 2, MIB))).toBe(0);
    expect(await spool.add(batch('c', 4, MIB))).toBe(1);
    const next = new LogSpool(dir, 2 * size - 1);
    await next.open();
    expect(await next.add(batch('d'))).toBe(2);
    expect(await drained(next)).toEqual([['c'], ['d']]);
  });

  test('oldest() returns the batches before a damaged part, and reports the damage', async () => {
    const spool = await openSpool();
    await spool.add(batch('a'));
    await spool.add(batch('b'));
    const path = join(dir, '000000000001.blocks');
    const whole = readFileSync(path);
    const firstEnd = frameHeader(batch('a')).length + 10;
    const damages: [Buffer, string[]][] = [
      [whole.subarray(0, -1), ['a']],
      [whole.subarray(0, firstEnd + 5), ['a']],
      [Buffer.concat([whole.subarray(0, firstEnd), Buffer.from('null\n')]), ['a']],
      [Buffer.concat([whole.subarray(0, firstEnd), Buffer.from('no header\n')]), ['a']],
      [Buffer.concat([whole.subarray(0, firstEnd - 1), Buffer.from('!'), whole.subarray(firstEnd)]), []],
    ];
    for (const [content, left] of damages) {
      writeFileSync(path, content);
      const file = await (await openSpool()).oldest();
      expect([file?.isDamaged, file?.batches.map(({ id }) => id)]).toEqual([true, left]);
    }
  });

  test('oldest() ignores a file that could not be created', async () => {
    const spool = await openSpool();
    const obstacle = join(dir, '000000000001.blocks');
    mkdirSync(obstacle);
    await expect(spool.add(batch('a'))).rejects.toThrow('EISDIR');
    rmSync(obstacle, { recursive: true });
    expect(await spool.oldest()).toBeUndefined();
    await spool.add(batch('b'));
    expect(await drained(spool)).toEqual([['b']]);
  });

  test('open() does not change files of other programs', async () => {
    await openSpool();
    writeFileSync(join(dir, 'notes.txt'), 'mine');
    writeFileSync(join(dir, '1.blocks'), 'mine');
    const spool = await openSpool();
    expect(await spool.oldest()).toBeUndefined();
    expect(readdirSync(dir)).toEqual(['1.blocks', 'notes.txt']);
  });
});
