/** Reuse of the memory of blocks. */
import { describe, expect, test } from '@jest/globals';
import { FrameMemory } from './frame-memory.ts';

describe('FrameMemory', () => {
  test('returns zeroed memory to one caller at a time, and the same memory after clear()', () => {
    const memory = new FrameMemory();
    const buffers = [];
    for (let turn = 0; turn < 3; turn++) {
      const pieces = [10, 0, 20, turn === 2 ? 40 : 5].map((length) => memory.take(length));
      for (const [n, piece] of pieces.entries()) {
        expect([...piece]).toEqual(Array.from(piece, () => 0));
        piece.fill(n + 1);
      }
      expect(pieces.map((piece) => new Set(piece))).toEqual([
        new Set([1]),
        new Set(),
        new Set([3]),
        new Set([4]),
      ]);
      buffers.push(pieces[0]!.buffer, pieces[2]!.buffer);
      memory.clear();
    }
    expect(buffers[2]).toBe(buffers[3]);
    expect(buffers[4]).toBe(buffers[2]);
    expect(buffers[0]).not.toBe(buffers[2]);
  });

  test('releases memory if only little of it is needed', () => {
    const memory = new FrameMemory();
    for (const length of [1000, 10, 10]) {
      memory.take(length);
      memory.clear();
    }
    expect(memory.take(10).buffer.byteLength).toBe(12);
  });
});
