import { describe, expect, test } from '@jest/globals';
import { DamagedGeneration, decodeManaged, encodeManaged } from './generation-file.ts';

const ROWS = [
  { id: 1, name: 'ä', domain: 'a.example', suffix: false, action: 'deny', groupId: null },
] as const;

describe('a file of managed domains', () => {
  test('is read as it was written', () => {
    expect(decodeManaged(encodeManaged(ROWS))).toEqual(ROWS);
  });

  test('is refused with a changed byte, or truncated', () => {
    const file = encodeManaged(ROWS);
    expect(() => decodeManaged(file.subarray(0, 3))).toThrow(DamagedGeneration);
    file[5]! ^= 1;
    expect(() => decodeManaged(file)).toThrow(DamagedGeneration);
  });
});
