import { describe, expect, test } from '@jest/globals';
import { addressFromText } from '../net/ip.ts';
import { NamedClients } from './named-clients.ts';

const addresses = (...texts: string[]): Uint8Array =>
  Buffer.concat(texts.map((text) => addressFromText(text)!));

describe('NamedClients.hasSome(), whether a client name has an address,', () => {
  const named = new NamedClients([
    { name: 'laptop', addresses: addresses('192.0.2.1', '2001:db8::1') },
    { name: 'tv', addresses: addresses('192.0.2.2') },
    { name: 'away', addresses: addresses() },
  ]);
  const has = (names: string[], address: string): boolean =>
    named.hasSome(names, Buffer.concat([Buffer.alloc(3, 1), addresses(address)]), 3);

  test('is true exactly for the addresses of each name', () => {
    expect([
      has(['laptop'], '192.0.2.1'),
      has(['laptop'], '2001:db8::1'),
      has(['laptop'], '192.0.2.2'),
    ]).toEqual([true, true, false]);
    expect([has(['unknown', 'away', 'tv'], '192.0.2.2'), has(['unknown', 'away'], '192.0.2.2')]).toEqual([
      true,
      false,
    ]);
    expect(has([], '192.0.2.1')).toBe(false);
  });

  test('compares all sixteen bytes of an address', () => {
    for (let at = 0; at < 16; at++) {
      const client = addresses('2001:db8::1');
      client[at]! ^= 1;
      expect([at, named.hasSome(['laptop'], client, 0)]).toEqual([at, false]);
    }
  });
});
