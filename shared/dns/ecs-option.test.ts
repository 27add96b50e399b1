import { describe, expect, test } from '@jest/globals';
import { isQueryEcs } from './ecs-option.ts';

/** Reads the data from an odd offset, with other bytes around it. */
function isValid(data: readonly number[]): boolean {
  return isQueryEcs(Uint8Array.from([255, ...data, 255]), 1, data.length);
}

describe('isQuerySubnet()', () => {
  test.each([
    ['an IPv4 /24', [0, 1, 24, 0, 192, 0, 2]],
    ['an IPv4 /20 whose last bits are 0', [0, 1, 20, 0, 198, 51, 0x60]],
    ['an IPv4 /1', [0, 1, 1, 0, 0x80]],
    ['an IPv4 address', [0, 1, 32, 0, 192, 0, 2, 255]],
    ['an IPv6 /48', [0, 2, 48, 0, 0x20, 1, 0xd, 0xb8, 0, 1]],
    ['an IPv6 address', [0, 2, 128, 0, 0x20, 1, 0xd, 0xb8, ...Array<number>(12).fill(255)]],
    ['an IPv4 /0', [0, 1, 0, 0]],
    ['an IPv6 /0', [0, 2, 0, 0]],
    ['a /0 of no family', [0, 0, 0, 0]],
  ])('accepts %s', (_what, data) => {
    expect(isValid(data)).toBe(true);
  });

  test.each([
    ['nothing', []],
    ['what is too short', [0, 1, 0]],
    ['an unknown family', [0, 3, 8, 0, 1]],
    ['a high family', [1, 1, 8, 0, 1]],
    ['a prefix of no family', [0, 0, 8, 0, 1]],
    ['an IPv4 /33', [0, 1, 33, 0, 192, 0, 2, 1, 0]],
    ['an IPv6 /129', [0, 2, 129, 0, ...Array<number>(17).fill(0)]],
    ['a scope', [0, 1, 24, 24, 192, 0, 2]],
    ['a scope with /0', [0, 1, 0, 1]],
    ['an address that is too short', [0, 1, 24, 0, 192, 0]],
    ['an address that is too long', [0, 1, 24, 0, 192, 0, 2, 0]],
    ['an address with /0', [0, 1, 0, 0, 0]],
    ['bits behind the prefix', [0, 1, 23, 0, 192, 0, 3]],
    ['bits behind a prefix of one bit', [0, 1, 1, 0, 0xc0]],
  ])('rejects %s', (_what, data) => {
    expect(isValid(data)).toBe(false);
  });
});
