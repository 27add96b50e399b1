import { describe, expect, test } from '@jest/globals';
import { addressFromText, addressToText, addressWord, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { macIdentity } from '../../../../shared/net/mac.ts';
import { Exclusion } from '../../../../shared/query-log.ts';
import { ClientTable, exclusionOf } from '../../../../shared/snapshot/client-table.ts';
import fc from '../../../../test/support/parts/fast-check.ts';
import { buildClientTable, isSameForClients } from './client-table-builder.ts';
import { type LivePolicy, NOTHING_LIVE } from '../../change/runtime-state.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../change/rows.ts';

const GROUPS = Array.from({ length: 200 }, (_, index) => ({ id: index + 1, enabled: index % 10 !== 9 }));

function tableOf(rows: Partial<PolicyRows>, live: Partial<LivePolicy> = {}): ClientTable {
  const all = { ...NO_POLICY_ROWS, groups: GROUPS, ...rows };
  return new ClientTable(buildClientTable(all, { ...NOTHING_LIVE, ...live }));
}

function recordFor(table: ClientTable, bytes: Uint8Array): number {
  return table.find(
    addressWord(bytes, 0),
    addressWord(bytes, 4),
    addressWord(bytes, 8),
    addressWord(bytes, 12),
  );
}

/** Id of the group that the table assigns to an address, and the source of the assignment. */
function found(table: ClientTable, address: string): string {
  const record = recordFor(table, addressFromText(address)!);
  const { source, prefix } = table.describe(record);
  return `${GROUPS[table.groupIndexOf(record)]!.id} ${source}${prefix === null ? '' : ` ${prefix}`}`;
}

describe('buildClientTable()', () => {
  test('assigns every client to Default if there are no assignments', () => {
    const table = tableOf({});
    for (const address of ['0.0.0.0', '192.0.2.1', '255.255.255.255', '::', '2001:db8::1', '::1'])
      expect(found(table, address)).toBe('1 default');
  });

  test('prefers a MAC to an address, an address to a subnet, and a longer prefix to a shorter one', () => {
    const table = tableOf(
      {
        subnets: [
          { cidr: '192.0.2.0/24', groupId: 2 },
          { cidr: '192.0.2.128/25', groupId: 3 },
          { cidr: '192.0.2.130/32', groupId: 4 },
          { cidr: '2001:db8::/32', groupId: 5 },
        ],
        clients: [
          { address: '192.0.2.130', groupId: 6 },
          { address: '192.0.2.131', groupId: 6 },
          { address: '2001:db8::7', groupId: 6 },
        ],
      },
      { clientAddresses: [{ address: '192.0.2.131', groupId: 7 }] },
    );
    expect(found(table, '192.0.2.127')).toBe('2 subnet 192.0.2.0/24');
    expect(found(table, '192.0.2.128')).toBe('3 subnet 192.0.2.128/25');
    expect(found(table, '192.0.2.130')).toBe('6 manual 192.0.2.130');
    expect(found(table, '192.0.2.131')).toBe('7 mac 192.0.2.131');
    expect(found(table, '192.0.2.132')).toBe('3 subnet 192.0.2.128/25');
    expect(found(table, '192.0.3.0')).toBe('1 default');
    expect(found(table, '2001:db8::6')).toBe('5 subnet 2001:db8::/32');
    expect(found(table, '2001:db8::7')).toBe('6 manual 2001:db8::7');
    expect(found(table, '2001:db9::')).toBe('1 default');
  });

  test('treats a disabled or deleted group as Default, and still returns the client or subnet that matched', () => {
    const table = tableOf({
      subnets: [
        { cidr: '198.51.100.0/24', groupId: 2 },
        { cidr: '198.51.100.0/25', groupId: 10 },
      ],
      clients: [{ address: '198.51.100.200', groupId: 999 }],
    });
    expect(found(table, '198.51.100.1')).toBe('1 subnet 198.51.100.0/25');
    expect(found(table, '198.51.100.199')).toBe('2 subnet 198.51.100.0/24');
    expect(found(table, '198.51.100.200')).toBe('1 manual 198.51.100.200');
  });

  test('contains the exclusions of clients, whatever their group', () => {
    const mac = '02:00:5e:10:00:01';
    const table = tableOf(
      { subnets: [{ cidr: '192.0.2.0/24', groupId: 2 }], clients: [{ address: '192.0.2.7', groupId: 3 }] },
      {
        excludedAddresses: [
          { address: '192.0.2.7', exclusion: Exclusion.LOG },
          { address: '192.0.2.8', exclusion: Exclusion.STATS },
          { address: '192.0.2.8', exclusion: Exclusion.LOG },
          { address: '255.255.255.255', exclusion: Exclusion.LOG },
          { address: '2001:db8::7', exclusion: Exclusion.STATS },
          { address: macIdentity(mac), exclusion: Exclusion.BOTH },
        ],
      },
    );
    const exclusionAt = (address: string): number => exclusionOf(recordFor(table, addressFromText(address)!));
    const addresses = ['192.0.2.6', '192.0.2.7', '192.0.2.8', '192.0.2.9', '255.255.255.255'];
    expect(addresses.map(exclusionAt)).toEqual([0, 1, 3, 0, 1]);
    expect(['2001:db8::6', '2001:db8::7', '2001:db8::8', macIdentity(mac)].map(exclusionAt)).toEqual([
      0, 2, 0, 3,
    ]);
    expect([table.hasMacs, found(table, '192.0.2.7'), found(table, '192.0.2.8')]).toEqual([
      true,
      '3 manual 192.0.2.7',
      '2 subnet 192.0.2.0/24',
    ]);
  });

  test('accepts prefixes of all IPv4 and all IPv6 addresses, and keeps the two apart', () => {
    const table = tableOf({
      subnets: [
        { cidr: '0.0.0.0/0', groupId: 2 },
        { cidr: '::/0', groupId: 3 },
        { cidr: '255.255.255.255/32', groupId: 4 },
        { cidr: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128', groupId: 5 },
      ],
    });
    expect(found(table, '0.0.0.0')).toBe('2 subnet 0.0.0.0/0');
    expect(found(table, '::ffff:192.0.2.1')).toBe('2 subnet 0.0.0.0/0');
    expect(found(table, '255.255.255.254')).toBe('2 subnet 0.0.0.0/0');
    expect(found(table, '255.255.255.255')).toBe('4 subnet 255.255.255.255/32');
    expect(found(table, '::')).toBe('3 subnet ::/0');
    expect(found(table, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe')).toBe('3 subnet ::/0');
    expect(found(table, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff')).toContain('5 subnet');
  });

  test('leaves out unreadable rows', () => {
    const cidrs = ['', '/', 'x/8', '192.0.2.0/33', '192.0.2.0/-1', '192.0.2.0/1.5', '2001:db8::/129'];
    const table = tableOf({
      subnets: cidrs.map((cidr) => ({ cidr, groupId: 2 })),
      clients: [{ address: 'attic', groupId: 2 }],
    });
    expect(found(table, '192.0.2.1')).toBe('1 default');
    expect(found(table, '2001:db8::1')).toBe('1 default');
  });

  test('finds the same group as a bitwise comparison with every prefix, for generated rows', () => {
    fc.assert(
      fc.property(scenario, ({ prefixes, exact, asked }) => {
        const table = tableOf({
          subnets: prefixes.map(({ address, length, groupId }) => ({
            cidr: `${addressToText(address)}/${isMappedIpv4(address) ? length - 96 : length}`,
            groupId,
          })),
          clients: exact.map(({ address, groupId }) => ({ address: addressToText(address), groupId })),
        });
        for (const address of [...asked, ...prefixes.map((prefix) => prefix.address)])
          expect(GROUPS[table.groupIndexOf(recordFor(table, address))]!.id).toBe(
            oracle(prefixes, exact, address),
          );
      }),
      { numRuns: 300 },
    );
  });

  test('supports ten thousand subnets and twenty thousand clients of two hundred groups', () => {
    const subnets = Array.from({ length: 10_000 }, (_, index) => ({
      cidr: index % 2 === 0 ? `10.${index >> 8}.${index & 255}.0/24` : `2001:db8:${index.toString(16)}::/48`,
      groupId: (index % 200) + 1,
    }));
    const clients = Array.from({ length: 20_000 }, (_, index) => ({
      address:
        index % 2 === 0 ? `10.${index >> 9}.${(index >> 1) & 255}.7` : `2001:db8::${index.toString(16)}`,
      groupId: ((index + 7) % 200) + 1,
    }));
    const table = tableOf({ subnets, clients });
    for (const { address, groupId } of clients) {
      const effective = groupId % 10 === 0 ? 1 : groupId;
      expect(found(table, address)).toBe(`${effective} manual ${address}`);
    }
  });
});

interface Placed {
  readonly address: Uint8Array;
  readonly groupId: number;
}
type PlacedPrefix = Placed & { readonly length: number };

/** Only few different bytes, so that prefixes are often nested or adjacent; half of the addresses are IPv4. */
const address = fc
  .tuple(fc.boolean(), fc.array(fc.constantFrom(0, 1, 127, 128, 254, 255), { minLength: 16, maxLength: 16 }))
  .map(([isIpv4, bytes]) => Uint8Array.from(isIpv4 ? [...MAPPED, ...bytes.slice(12)] : bytes));
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const groupId = fc.integer({ min: 1, max: 200 });
const prefix: fc.Arbitrary<PlacedPrefix> = fc
  .tuple(address, fc.integer({ min: 0, max: 128 }), groupId)
  .map(([bytes, bits, group]) => {
    const length = isMappedIpv4(bytes) ? 96 + (bits % 33) : bits;
    return { address: masked(bytes, length), length, groupId: group };
  })
  // Masking may convert an IPv6 address to an IPv4 address; such prefixes are excluded.
  .filter(({ address: bytes, length }) => !isMappedIpv4(bytes) || length >= 96);
const scenario = fc.record({
  prefixes: fc.uniqueArray(prefix, {
    maxLength: 40,
    selector: ({ address: bytes, length }) => `${addressToText(bytes)}/${length}`,
  }),
  exact: fc.uniqueArray(fc.record({ address, groupId }), {
    maxLength: 10,
    selector: (client) => addressToText(client.address),
  }),
  asked: fc.array(address, { maxLength: 40 }),
});

function masked(bytes: Uint8Array, length: number): Uint8Array {
  return bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, length - index * 8));
    return byte & (0xff << (8 - bits));
  });
}

function oracle(prefixes: readonly PlacedPrefix[], exact: readonly Placed[], asked: Uint8Array): number {
  const own = exact.find((client) => addressToText(client.address) === addressToText(asked));
  let best: PlacedPrefix | undefined;
  for (const candidate of prefixes) {
    if (isMappedIpv4(candidate.address) !== isMappedIpv4(asked)) continue;
    if (addressToText(masked(asked, candidate.length)) !== addressToText(candidate.address)) continue;
    if (best === undefined || candidate.length > best.length) best = candidate;
  }
  const id = own?.groupId ?? best?.groupId ?? 1;
  return GROUPS[id - 1]!.enabled ? id : 1;
}

describe('isSameForClients()', () => {
  const group = { id: 5, enabled: true };
  const subnet = { cidr: '192.0.2.0/24', groupId: 5 };
  const client = { address: '192.0.2.9', groupId: 5 };
  const causes = (rows: Partial<PolicyRows> = {}, live: Partial<LivePolicy> = {}) => ({
    rows: { ...NO_POLICY_ROWS, groups: [group], subnets: [subnet], clients: [client], ...rows },
    live: { ...NOTHING_LIVE, clientAddresses: [client], ...live },
  });

  test('is true for equal rows that were read again, even if rows of other tables differ', () => {
    const again = causes({ groups: [{ ...group }], subnets: [{ ...subnet }], clients: [{ ...client }] });
    expect(isSameForClients(causes(), again)).toBe(true);
    expect(isSameForClients(causes(), causes({ safeSearch: [] }, { nowMs: 1 }))).toBe(true);
  });

  test.each<[string, Partial<PolicyRows>, Partial<LivePolicy>]>([
    ['a disabled group', { groups: [{ ...group, enabled: false }] }, {}],
    ['a different group', { groups: [{ ...group, id: 6 }] }, {}],
    ['a different subnet', { subnets: [{ ...subnet, cidr: '192.0.2.0/25' }] }, {}],
    ['a subnet in a different group', { subnets: [{ ...subnet, groupId: 1 }] }, {}],
    ['one more subnet', { subnets: [subnet, { cidr: '192.0.3.0/24', groupId: 5 }] }, {}],
    ['a deleted subnet', { subnets: [] }, {}],
    ['a different address of a client', { clients: [{ ...client, address: '192.0.2.8' }] }, {}],
    ['a client in a different group', { clients: [{ ...client, groupId: 1 }] }, {}],
    [
      'a client that was observed at a new address',
      {},
      { clientAddresses: [{ ...client, address: '192.0.2.8' }] },
    ],
    ['a client that is no longer observed', {}, { clientAddresses: [] }],
  ])('detects %s', (_what, rows, live) => {
    expect(isSameForClients(causes(), causes(rows, live))).toBe(false);
    expect(isSameForClients(causes(rows, live), causes())).toBe(false);
  });
});
