/** Tests that memory is returned that the C library keeps after it was freed. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { findRelease } from './freed-memory.ts';

const release = findRelease();

/** Bytes of the process that are in memory. */
function residentBytes(): number {
  return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * 4096;
}

describe('the release of freed memory', () => {
  test('returns the memory of small freed blocks to the system', async () => {
    const { default: koffi } = (await import('koffi')) as unknown as {
      default: {
        load(path: null): { func(declaration: string): (...args: unknown[]) => unknown };
      };
    };
    const libc = koffi.load(null);
    const allocate = libc.func('void *malloc(size_t)');
    const fill = libc.func('void *memset(void *, int, size_t)');
    const free = libc.func('void free(void *)');
    const pieces = Array.from({ length: 20_000 }, () => {
      const piece = allocate(4000);
      fill(piece, 1, 4000);
      return piece;
    });
    // The last piece is not freed, because the C library would then release the end of the heap itself.
    for (const piece of pieces.slice(0, -1)) free(piece);
    const before = residentBytes();
    release!();
    expect(before - residentBytes()).toBeGreaterThan(60e6);
    free(pieces.at(-1));
  });
});
