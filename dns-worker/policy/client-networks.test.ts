import { describe, expect, test } from '@jest/globals';
import { createRateBuckets } from '../../shared/memory/rate-buckets.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import { Query } from '../query/query.ts';
import { ClientNetworks } from './client-networks.ts';

const PREFIXES = { ipv4PrefixLength: 24, ipv6PrefixLength: 56 };

/** A query over UDP, stored after other bytes; with a proven address if `isProven` is true. */
function from(client: string, isProven = false): Query {
  const query = new Query();
  query.protocol = isProven ? Protocol.tcp : Protocol.udp;
  query.clientBytes = Buffer.concat([Buffer.alloc(4, 7), addressFromText(client)!]);
  query.clientAt = 4;
  return query;
}

const SAME: readonly (readonly [string, string])[] = [
  ['192.0.2.1', '192.0.2.255'],
  ['2001:db8:1:200::1', '2001:db8:1:2ff:ffff::1'],
];
const OTHERS: readonly (readonly [string, string])[] = [
  ['192.0.2.1', '192.0.3.1'],
  ['192.0.2.1', '193.0.2.1'],
  ['2001:db8:1:200::1', '2001:db8:1:300::1'],
  ['2001:db8:1:200::1', '2001:db9:1:200::1'],
  ['::', '0.0.0.0'],
];

describe('ClientNetworks, which assigns addresses to networks,', () => {
  const networks = new ClientNetworks(createRateBuckets(false, 77), PREFIXES);
  const key = (client: string, isProven?: boolean): string => networks.key(from(client, isProven));
  const hash = (client: string, isProven?: boolean): number => networks.hash(from(client, isProven));

  test.each(SAME)('key() and hash() are equal for %s and %s, which are one network', (one, other) => {
    expect(key(one)).toBe(key(other));
    expect(hash(one)).toBe(hash(other));
    expect(key(one)).not.toBe('');
  });

  test.each(OTHERS)('key() and hash() differ for %s and %s, which are two networks', (one, other) => {
    // The result does not depend on the previous lookup.
    const keys = [one, other, other, one, one, other].map((client) => key(client));
    expect(keys).toEqual([keys[0], keys[1], keys[1], keys[0], keys[0], keys[1]]);
    expect(keys[0]).not.toBe(keys[1]);
    expect(hash(one)).not.toBe(hash(other));
  });

  test('key() and hash() distinguish addresses proven by a cookie from addresses that may be forged', () => {
    const keys = [false, true, true, false].map((isProven) => key('192.0.2.1', isProven));
    expect(keys).toEqual([keys[0], keys[1], keys[1], keys[0]]);
    expect(keys[0]).not.toBe(keys[1]);
    expect(hash('192.0.2.1', true)).toBe(~hash('192.0.2.1', false));
  });

  test('key() returns a valid key for an all-zero address, even in the first call', () => {
    const fresh = new ClientNetworks(createRateBuckets(false, 77), PREFIXES);
    expect(fresh.key(from('::'))).not.toBe('');
  });

  test('hash() depends on the seed', () => {
    const other = new ClientNetworks(createRateBuckets(false, 78), PREFIXES);
    expect(other.hash(from('192.0.2.1'))).not.toBe(hash('192.0.2.1'));
  });
});
