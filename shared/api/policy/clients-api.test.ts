import { describe, expect, test } from '@jest/globals';
import { ClientCreateBody, ClientSubnetCreateBody, ClientUpdateBody } from './clients-api.ts';

describe('ClientCreateBody', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
  ])('stores the address %s as %s', (written, kept) => {
    expect(ClientCreateBody.parse({ ip_address: written })).toEqual({
      ip_address: kept,
      mac_address: null,
      client_key: null,
      name: null,
      group_id: null,
      exclude_from_log: false,
      exclude_from_stats: false,
    });
  });

  test.each(['192.0.2.256', 'fe80::1%eth0', 'host', ''])('rejects the address %j', (address) => {
    expect(ClientCreateBody.safeParse({ ip_address: address }).error?.issues).toMatchObject([
      { path: ['ip_address'], message: 'expected an IPv4 or IPv6 address' },
    ]);
  });

  test('stores a MAC address in a canonical form, and rejects other texts', () => {
    expect(ClientCreateBody.parse({ mac_address: '02-00-5E-10-00-01' }).mac_address).toBe(
      '02:00:5e:10:00:01',
    );
    expect(ClientCreateBody.safeParse({ mac_address: '02:00:5e:10:00' }).success).toBe(false);
  });

  test('rejects a client without an address, a MAC address or a key', () => {
    expect(ClientCreateBody.safeParse({ name: 'tablet' }).error?.issues).toMatchObject([
      { path: ['ip_address'], message: 'expected an address, a MAC or a key' },
    ]);
  });
});

describe('ClientUpdateBody', () => {
  test('keeps absent fields absent, and distinguishes them from null', () => {
    expect(ClientUpdateBody.parse({})).toEqual({});
    expect(ClientUpdateBody.parse({ group_id: null })).toEqual({ group_id: null });
    expect(ClientUpdateBody.safeParse({ group: 1 }).success).toBe(false);
  });
});

describe('ClientSubnetCreateBody', () => {
  test('stores a network in a canonical form, and rejects other texts', () => {
    const read = (cidr: string) => ClientSubnetCreateBody.safeParse({ subnet_cidr: cidr, group_id: 1 }).data;
    expect(read('192.0.2.0/24')).toEqual({ subnet_cidr: '192.0.2.0/24', group_id: 1, comment: '' });
    expect(read('2001:DB8:0::/48')?.subnet_cidr).toBe('2001:db8::/48');
    expect([read('192.0.2.0/33'), read('192.0.2.0/'), read('net')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
