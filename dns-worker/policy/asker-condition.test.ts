import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../shared/dns/iana.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { NamedClients } from '../../shared/snapshot/named-clients.ts';
import type { SpecialRule } from '../../shared/snapshot/special-rules.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { Query } from '../query/query.ts';
import { hasAsker, isFor } from './asker-condition.ts';

type Condition = Partial<SpecialRule>;

const NAMED = new NamedClients([{ name: 'tv', addresses: addressFromText('192.0.2.7')! }]);

function ruleWith(condition: Condition): SpecialRule {
  return { source: 0, line: 1, kind: 1, match: 'exact', text: 'a.example', rule: 'a.example', ...condition };
}

/** Whether a rule applies to a query of a client; the address is stored after other bytes. */
function holds(condition: Condition, client: string | Uint8Array, qtype: number = RRType.A): boolean {
  const query = new Query();
  const address = typeof client === 'string' ? addressFromText(client)! : client;
  query.clientBytes = Buffer.concat([Buffer.alloc(5, 0xff), address]);
  query.clientAt = 5;
  return isFor(ruleWith(condition), qtype, query, NAMED);
}

function range(address: string, bits: number): { address: string; bits: number } {
  return { address: Buffer.from(addressFromText(address)!).toString('hex'), bits };
}

const HOME = [range('192.0.2.0', 120)];

describe('hasAsker(), whether a rule depends on query type or client,', () => {
  test.each<[string, Condition]>([
    ['types', { types: [1] }],
    ['types that are left out', { exceptTypes: [1] }],
    ['clients', { clients: HOME }],
    ['clients that are left out', { exceptClients: HOME }],
    ['names of clients', { clientNames: ['tv'] }],
    ['names of clients that are left out', { exceptClientNames: ['tv'] }],
  ])('is true for a rule with %s', (_, condition) => {
    expect(hasAsker(ruleWith(condition))).toBe(true);
  });

  test('is false for a rule whose condition is on the name, or that has its own answer', () => {
    const rewrite = { rcode: 0 };
    expect(hasAsker(ruleWith({ denyallow: ['b.example'], rewrite }))).toBe(false);
  });
});

describe('isFor(), whether the condition of a rule applies to a query,', () => {
  test('is true for every query if the rule has no condition', () => {
    expect(holds({}, '192.0.2.1')).toBe(true);
  });

  test('compares the query type', () => {
    const types = [RRType.A, RRType.AAAA, RRType.TXT];
    const of = (condition: Condition): boolean[] => types.map((type) => holds(condition, '192.0.2.1', type));
    expect(of({ types: [RRType.A, RRType.AAAA] })).toEqual([true, true, false]);
    expect(of({ exceptTypes: [RRType.A] })).toEqual([false, true, true]);
  });

  test('matches any of the listed clients by address or name, and no excluded client', () => {
    const clients = ['192.0.2.7', '192.0.2.8', '203.0.113.1'];
    const of = (condition: Condition): boolean[] => clients.map((client) => holds(condition, client));
    expect(of({ clients: HOME })).toEqual([true, true, false]);
    expect(of({ clients: [range('203.0.113.1', 128), range('192.0.2.8', 128)] })).toEqual([
      false,
      true,
      true,
    ]);
    expect(of({ clientNames: ['phone', 'tv'] })).toEqual([true, false, false]);
    expect(of({ clients: [range('203.0.113.0', 120)], clientNames: ['tv'] })).toEqual([true, false, true]);
    expect(of({ exceptClients: HOME })).toEqual([false, false, true]);
    expect(of({ exceptClientNames: ['tv'] })).toEqual([false, true, true]);
    expect(of({ clients: HOME, exceptClientNames: ['tv'] })).toEqual([false, true, false]);
  });

  test('compares exactly the bits of a prefix', () => {
    const address = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 128 }), (bytes, bits) => {
        const clients = [{ address: Buffer.from(bytes).toString('hex'), bits }];
        // The bits of the address that the rule compares.
        const counted = Array.from({ length: 128 }, (_, bit) => {
          const client = bytes.slice();
          client[bit >>> 3]! ^= 0x80 >>> (bit & 7);
          return !holds({ clients }, client);
        });
        expect(counted.lastIndexOf(true)).toBe(bits - 1);
        expect(counted.filter((counts) => counts)).toHaveLength(bits);
        expect(holds({ clients }, bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe('isFor() for a client with a key', () => {
  const query = new Query();
  query.clientBytes = addressFromText('192.0.2.7')!;
  query.keyed = {
    key: 'annas-phone',
    clientId: 9,
    record: 1,
    admits: null,
    exclusion: 0,
    names: ['anna', 'annas-phone'],
  };

  test.each<[boolean, Condition]>([
    [true, { clientNames: ['anna'] }],
    [true, { clientNames: ['annas-phone', 'x'] }],
    [false, { clientNames: ['tv'] }],
    [false, { exceptClientNames: ['anna'] }],
    [true, { exceptClientNames: ['tv'] }],
    [true, { clients: HOME }],
  ])(
    "is %s by the client's own names, not by names of other clients at its address: %j",
    (expected, condition) => {
      expect(isFor(ruleWith(condition), RRType.A, query, NAMED)).toBe(expected);
    },
  );
});
