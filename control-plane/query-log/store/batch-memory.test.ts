import { describe, expect, test } from '@jest/globals';
import { BatchMemory, SLAB_BYTES } from './batch-memory.ts';

describe('BatchMemory', () => {
  test('take() hands out what was given back, whole, however little of it was used', () => {
    const memory = new BatchMemory();
    const slab = memory.take();
    memory.giveBack(slab.subarray(0, 100));
    const again = memory.take();
    expect(again.buffer).toBe(slab.buffer);
    expect(again.length).toBe(SLAB_BYTES);
  });

  test('take() never hands out a slab that somebody has', () => {
    const memory = new BatchMemory();
    expect(memory.take().buffer).not.toBe(memory.take().buffer);
  });

  test('giveBack() leaves memory from elsewhere alone', () => {
    const memory = new BatchMemory();
    const foreign = Buffer.alloc(SLAB_BYTES);
    memory.giveBack(foreign);
    expect(memory.take().buffer).not.toBe(foreign.buffer);
  });

  test('shrink() frees what was not needed since the call before, and nothing else', () => {
    const memory = new BatchMemory();
    const slabs = [memory.take(), memory.take(), memory.take()];
    for (const slab of slabs) memory.giveBack(slab);
    memory.shrink();
    memory.giveBack(memory.take());
    memory.shrink();
    expect(slabs.map(({ buffer }) => buffer)).toContain(memory.take().buffer);
    expect(slabs.map(({ buffer }) => buffer)).not.toContain(memory.take().buffer);
  });
});
