import { describe, expect, test } from '@jest/globals';
import { DamagedGeneration, decodeManaged, encodeManaged } from './generation-file.ts';

const ROWS = [
  { id: 1, name: 'ä', domain: 'a.example', suffix: false, action: 'deny', groupId: null },
] as const;

describe('a file of managed domains', () => {
  test('returns what was written to it', () => {
    expect(decodeManaged(encodeManaged(ROWS))).toEqual(ROWS);
  });

  test('is refused if a byte has changed or if it is truncated', () => {
    const file = encodeManaged(ROWS);
    expect(() => decodeManaged(file.subarray(0, 3))).toThrow(DamagedGeneration);
    file[5]! ^= 1;
    expect(() => decodeManaged(file)).toThrow(DamagedGeneration);
  });
});
