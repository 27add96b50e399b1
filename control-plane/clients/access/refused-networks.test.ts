import { describe, expect, test } from '@jest/globals';
import { RefusedNetworks } from './refused-networks.ts';

describe('RefusedNetworks', () => {
  test('counts refused queries by network, with the last address and the first and last time', () => {
    const refused = new RefusedNetworks();
    refused.note('203.0.113.7', 1, 1000);
    refused.note('2001:db8:1:2::3', 4, 2000);
    refused.note('203.0.113.200', 12, 3000);
    refused.note('2001:db8:1:ff::9', 1, 4000);
    expect(refused.all()).toEqual([
      { network: '203.0.113.0/24', lastClient: '203.0.113.200', firstMs: 1000, lastMs: 3000, count: 13 },
      { network: '2001:db8:1::/56', lastClient: '2001:db8:1:ff::9', firstMs: 2000, lastMs: 4000, count: 5 },
    ]);
  });

  test('keeps a network that queries repeatedly during a flood of queries from forged addresses', () => {
    const refused = new RefusedNetworks();
    refused.note('203.0.113.7', 60, 0);
    for (let i = 0; i < 5000; i++) refused.note(`10.${i >> 8}.${i & 255}.1`, 1, 1000 + i);
    const all = refused.all();
    expect(all).toHaveLength(1000);
    expect(all.find(({ network }) => network === '203.0.113.0/24')).toMatchObject({ count: 60 });
    expect(all.at(-1)).toMatchObject({ network: '10.19.135.0/24' });
  });
});
