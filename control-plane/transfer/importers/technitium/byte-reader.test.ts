import { describe, expect, test } from '@jest/globals';
import { namesFile } from '../../../../test/support/weir/technitium-exports.ts';
import { readTechnitium } from './read-technitium.ts';

const read = (blocked: Buffer) => readTechnitium(new Map([['blocked.config', blocked]])).blocked;

describe('ByteReader', () => {
  test('reads a list of names', () => {
    expect(read(namesFile('BZ', ['a.example', 'b.example']))).toEqual(['a.example', 'b.example']);
  });

  test.each([
    ['an empty file', Buffer.alloc(0), 'ends too early'],
    ['a file of another kind', namesFile('AZ', []), 'is not this kind of Technitium file'],
    ['a file of another version', namesFile('BZ', ['a'], 1, 9), 'has version 9'],
    ['a file with a false count', namesFile('BZ', ['a'], 2_000_000_000), 'ends too early'],
    ['a file with a negative count', namesFile('BZ', ['a'], -1), 'ends too early'],
    ['a truncated name', namesFile('BZ', ['a.example']).subarray(0, -1), 'ends too early'],
  ])('refuses %s', (_what, content, reason) => {
    expect(() => read(content)).toThrow(reason);
  });
});
