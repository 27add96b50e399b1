import { describe, expect, test } from '@jest/globals';
import { PrefixLengths } from './prefix-lengths.ts';

describe('PrefixLengths, the set of prefix lengths in use,', () => {
  test('stores the lengths of IPv4 and IPv6 prefixes separately', () => {
    for (const addressBits of [32, 128])
      for (let bits = 1; bits < addressBits; bits++) {
        const lengths = new PrefixLengths();
        lengths.add(addressBits, bits);
        expect([...lengths.lengthsFor(addressBits)]).toEqual([bits]);
        expect([...lengths.lengthsFor(160 - addressBits)]).toEqual([]);
      }
  });

  test('lists the longest prefix length first, even after other lengths were added', () => {
    const one = new PrefixLengths();
    for (const bits of [8, 24]) one.add(32, bits);
    const other = new PrefixLengths();
    other.add(32, 16);
    for (const bits of [127, 32, 64]) other.add(128, bits);
    one.addAll(other.words);
    const read = new PrefixLengths(one.words);
    expect([...read.lengthsFor(32)]).toEqual([24, 16, 8]);
    expect([...read.lengthsFor(128)]).toEqual([127, 64, 32]);
    expect([...other.lengthsFor(32)]).toEqual([16]);
  });
});
