import { describe, expect, test } from '@jest/globals';
import { addressFromText, addressWord } from '../net/ip.ts';
import { ClientGroupSource, ClientTable } from './client-table.ts';
import { CLIENT_TABLE_MAGIC, ClientTableLayout as L, LAYOUT_VERSION } from './layout.ts';

const SIGN_BIT = 0x80000000 | 0;

const wordsOf = (address: string): number[] =>
  [0, 4, 8, 12].map((at) => addressWord(addressFromText(address)!, at));

interface Row {
  readonly group: number;
  readonly source: keyof typeof ClientGroupSource;
  readonly bits: number;
  readonly address: string;
}

const RECORDS: readonly Row[] = [
  { group: 0, source: 'default', bits: 0, address: '::' },
  { group: 3, source: 'subnet', bits: 24, address: '192.0.2.0' },
  { group: 4, source: 'mac', bits: 128, address: '2001:db8::7' },
];

/** Ranges by their starts; the record index is 10 and up for IPv4, 20 and up for IPv6. */
function tableOf(ipv4: readonly string[], ipv6: readonly string[], cutWords = 0): ClientTable {
  const words = [CLIENT_TABLE_MAGIC, LAYOUT_VERSION, RECORDS.length, ipv4.length, ipv6.length];
  while (words.length < L.HEADER_WORDS) words.push(0);
  for (const { group, source, bits, address } of RECORDS)
    words.push(group, ClientGroupSource[source] * 256 + bits, ...wordsOf(address));
  words.push(...ipv4.map((start) => wordsOf(start)[3]! ^ SIGN_BIT), ...ipv4.keys().map((at) => 10 + at));
  words.push(...ipv6.flatMap((start) => wordsOf(start).map((word) => word ^ SIGN_BIT)));
  words.push(...ipv6.keys().map((at) => 20 + at));
  const buffer = new SharedArrayBuffer((words.length - cutWords) * 4);
  new Int32Array(buffer).set(words.slice(0, words.length - cutWords));
  return new ClientTable(buffer);
}

const find = (table: ClientTable, address: string): number =>
  table.find(...(wordsOf(address) as [number, number, number, number]));

describe('ClientTable, the clients and networks of a policy snapshot,', () => {
  test('rejects a buffer that is truncated or not a client table of this layout', () => {
    expect(() => new ClientTable(new SharedArrayBuffer(64))).toThrow('it has a different layout');
    expect(() => tableOf(['0.0.0.0'], ['::'], 1)).toThrow('shorter than its header says');
    expect(() => tableOf(['0.0.0.0'], ['::'])).not.toThrow();
  });

  test('reads the group, kind and address or network of its records', () => {
    const table = tableOf(['0.0.0.0'], ['::']);
    expect([0, 1, 2].map((record) => table.groupIndexOf(record))).toEqual([0, 3, 4]);
    expect([0, 1, 2].map((record) => table.describe(record))).toEqual([
      { source: 'default', prefix: null },
      { source: 'subnet', prefix: '192.0.2.0/24' },
      { source: 'mac', prefix: '2001:db8::7' },
    ]);
  });
});

describe('ClientTable.find(), the group of an address,', () => {
  const IPV4 = ['0.0.0.0', '10.0.0.0', '127.255.255.255', '128.0.0.0', '255.255.255.255'];
  // Each address differs from the previous one in one word; some words have the sign bit, and some lower words are
  // smaller.
  const IPV6 = [
    '::',
    '::1:0:0',
    '::8000:0:0:0',
    '0:1:0:2:0:3:0:4',
    '0:1:0:2:0:3:8000:0',
    '0:1:0:2:8000::',
    '0:1:8000::',
    '1::',
    '8000::',
    '8000::1',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ];
  const table = tableOf(IPV4, IPV6);

  test('finds the range that starts at an address, and the range that contains the address', () => {
    expect(IPV4.map((start) => find(table, start))).toEqual(IPV4.map((_, at) => 10 + at));
    expect(
      ['9.255.255.255', '10.0.0.1', '127.255.255.254', '255.255.255.254'].map((at) => find(table, at)),
    ).toEqual([10, 11, 11, 13]);
    expect(IPV6.map((start) => find(table, start))).toEqual(IPV6.map((_, at) => 20 + at));
  });

  test('finds the previous range for the address just before the start of each range', () => {
    const before = (address: string): string => {
      const bytes = addressFromText(address)!;
      const number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`) - 1n;
      return number.toString(16).padStart(32, '0').match(/.{4}/g)!.join(':');
    };
    const found = IPV6.slice(1).map((start) => find(table, before(start)));
    expect(found).toEqual(IPV6.slice(1).map((_, at) => 20 + at));
  });

  test('distinguishes mapped IPv4 addresses from adjacent IPv6 addresses', () => {
    expect([find(table, '::ffff:10.0.0.1'), find(table, '::fffe:10.0.0.1')]).toEqual([11, 21]);
    expect(find(table, '::1:ffff:10.0.0.1')).toBe(21);
  });
});
