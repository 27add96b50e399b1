import { expect, test } from '@jest/globals';
import { canonicalClientKey } from '../../../../../shared/dns/client-key.ts';
import { admitsKey } from '../../../../../shared/policy/access.ts';
import { newClientKey } from './new-client-key.ts';

test('newClientKey() returns a different key each time, random enough to admit a device from any network', () => {
  const keys = Array.from({ length: 100 }, newClientKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) {
    expect(canonicalClientKey(key)).toBe(key);
    expect([key, admitsKey(key)]).toEqual([key, true]);
  }
});
