import { serialize } from 'node:v8';
import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../shared/dns/name.ts';
import { readTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { createSealedRecords, SealedRecords } from '../../shared/memory/sealed-records.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { ChainTable } from '../../test/support/dns/chain-table.ts';
import { TestZone } from '../../test/support/dns/test-zone.ts';
import { CHILD, ROOT, TEST } from '../../test/support/dns/validation-fixture.ts';
import type { ShareCuts } from './trust-chain.ts';

/** The zone of a name: its kind and, if it has keys, its name. */
async function zoneOf(table: ChainTable, name: string, signer?: string): Promise<string> {
  const zone = await table.chain.zoneOf(
    wireName(name),
    table.budget(),
    signer === undefined ? undefined : wireName(signer),
  );
  return zone.kind === 'secure' ? `secure ${nameToText(zone.name)}` : zone.kind;
}

describe('TrustChain.zoneOf(), the zone of a name and its DNSSEC status,', () => {
  test('walks down from the trust anchor with DS queries for each name and DNSKEY queries for each zone', async () => {
    const table = new ChainTable();
    expect(await zoneOf(table, 'sub.test')).toBe('secure test');
    expect(table.takeAsked()).toEqual(['. DNSKEY', 'test DS', 'test DNSKEY', 'sub.test DS']);
    expect(await zoneOf(table, 'child.test')).toBe('secure child.test');
    expect(table.takeAsked()).toEqual(['child.test DS', 'child.test DNSKEY']);
  });

  test("stops at the signer of the answer, and queries the signer's DS and DNSKEY together", async () => {
    const table = new ChainTable();
    table.off('child.test DS');
    expect(await zoneOf(table, 'www.child.test', 'test')).toBe('secure test');
    expect(table.takeAsked()).toEqual(['. DNSKEY', 'test DS', 'test DNSKEY']);
  });

  test('begins at the closest trust anchor, even if the answer names a signer above it', async () => {
    const table = new ChainTable([ROOT, TEST]);
    expect(await zoneOf(table, 'test', '.')).toBe('secure test');
    expect(table.takeAsked()).toEqual(['test DNSKEY']);
  });

  test('is indeterminate without a trust anchor above the name, and sends no query', async () => {
    const table = new ChainTable([TEST]);
    expect(await zoneOf(table, 'example')).toBe('indeterminate');
    expect(table.asked).toEqual([]);
  });

  test('is insecure below a negative trust anchor, and secure next to it', async () => {
    const table = new ChainTable([ROOT], ['child.test']);
    expect(await zoneOf(table, 'www.child.test')).toBe('insecure');
    expect(table.asked).toEqual([]);
    expect(await zoneOf(table, 'sub.test')).toBe('secure test');
  });

  test('is insecure below a provably unsigned delegation, and sends no further query', async () => {
    const table = new ChainTable();
    expect(await zoneOf(table, 'a.b.open.test')).toBe('insecure');
    expect(table.takeAsked().at(-1)).toBe('open.test DS');
  });

  test('is bogus if the absence of a DS is not proven', async () => {
    const table = new ChainTable().on('open.test DS', '', 'open.test 300 NSEC p.test NS RRSIG NSEC');
    expect(await zoneOf(table, 'open.test')).toBe('bogus');
  });

  test('is bogus if the keys do not match the DS', async () => {
    const other = new TestZone('child.test');
    const table = new ChainTable().on('child.test DNSKEY', other.signed(other.dnskey));
    expect(await zoneOf(table, 'child.test')).toBe('bogus');
  });

  test('queries twice before a result is bogus, and again after 5 s', async () => {
    const table = new ChainTable().on('test DS', TEST.ds);
    expect(await zoneOf(table, 'test')).toBe('bogus');
    expect(table.takeAsked()).toEqual(['. DNSKEY', 'test DS', 'test DS']);
    table.clock.advance(4999);
    expect(await zoneOf(table, 'test')).toBe('bogus');
    expect(table.takeAsked()).toEqual([]);
    table.clock.advance(1);
    table.on('test DS', ROOT.signed(TEST.ds));
    expect(await zoneOf(table, 'test')).toBe('secure test');
  });

  test('is unavailable if no server answers, and caches nothing', async () => {
    const table = new ChainTable();
    table.off('test DNSKEY');
    expect(await zoneOf(table, 'test')).toBe('unavailable');
    table.on('test DNSKEY', TEST.signed(TEST.dnskey));
    expect(await zoneOf(table, 'test')).toBe('secure test');
  });

  test("sends no query after the time limit of the client's query", async () => {
    const table = new ChainTable();
    const budget = table.budget();
    table.clock.advance(3000);
    expect(await table.chain.zoneOf(wireName('test'), budget)).toEqual({ kind: 'unavailable' });
    expect(table.asked).toEqual([]);
  });

  test('shares its subqueries with concurrent queries for the same zone', async () => {
    const table = new ChainTable();
    expect(await Promise.all([zoneOf(table, 'child.test'), zoneOf(table, 'child.test')])).toEqual([
      'secure child.test',
      'secure child.test',
    ]);
    expect(new Set(table.asked).size).toBe(table.asked.length);
  });

  test('treats a name with a CNAME as part of the zone above', async () => {
    const table = new ChainTable().on('alias.test DS', TEST.signed('alias.test 300 CNAME sub.test'));
    expect(await zoneOf(table, 'alias.test')).toBe('secure test');
  });
});

describe('TrustChain.knowsZoneBetween(), whether a zone cut is known,', () => {
  test('returns true for zones that an earlier walk has found, without sending queries', async () => {
    const table = new ChainTable();
    const knows = (name: string, above: string): boolean =>
      table.chain.knowsZoneBetween(wireName(name), wireName(above));
    await zoneOf(table, 'test');
    expect(knows('www.child.test', 'test')).toBe(false);
    await zoneOf(table, 'child.test');
    table.takeAsked();
    expect([knows('www.child.test', 'test'), knows('child.test', 'test')]).toEqual([true, true]);
    expect([knows('child.test', 'child.test'), knows('www.test', 'test')]).toEqual([false, false]);
    expect(table.asked).toEqual([]);
  });
});

describe('TrustChain.isExempt(), whether a name is not validated,', () => {
  test('is true at and below a negative trust anchor, unless a positive anchor is further down', () => {
    const exempt = (anchors: TestZone[], name: string): boolean =>
      new ChainTable(anchors, ['test']).chain.isExempt(wireName(name));
    expect(['test', 'www.test', 'example'].map((name) => exempt([ROOT], name))).toEqual([true, true, false]);
    expect(exempt([CHILD], 'www.child.test')).toBe(false);
  });
});

describe('TrustChain.beginsAt(), whether a zone has a trust anchor,', () => {
  test('is true only for the zone of a trust anchor', () => {
    const { chain } = new ChainTable([TEST]);
    expect(['test', '.', 'child.test'].map((name) => chain.beginsAt(wireName(name)))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('TrustChain.trust(), which sets new trust anchors,', () => {
  test('discards results based on the previous trust anchors', async () => {
    const table = new ChainTable();
    await zoneOf(table, 'child.test');
    table.takeAsked();
    table.chain.trust(readTrustAnchors(CHILD.ds));
    expect(await zoneOf(table, 'child.test')).toBe('secure child.test');
    expect(table.takeAsked()).toEqual(['child.test DNSKEY']);
    expect(await zoneOf(table, 'test')).toBe('indeterminate');
  });
});

describe('TrustChain.observe(), which reads the keys of a trust anchor,', () => {
  test('queries the keys each time, and returns null if no server answers', async () => {
    const table = new ChainTable([TEST]);
    const observe = () => table.chain.observe(wireName('test'), table.budget());
    expect(await observe()).not.toBeNull();
    expect(await observe()).not.toBeNull();
    expect(table.takeAsked()).toEqual(['test DNSKEY', 'test DNSKEY']);
    table.off('test DNSKEY');
    expect(await observe()).toBeNull();
  });
});

describe('TrustChain with results shared between threads', () => {
  /** Two threads of a node, the second with these anchors. */
  function threads(anchors = [ROOT]): [ChainTable, ChainTable] {
    const memory = createSealedRecords(2);
    const share =
      (worker: number): ShareCuts =>
      (points) =>
        new SealedRecords(memory, worker, serialize(points));
    return [new ChainTable([ROOT], [], share(0)), new ChainTable(anchors, [], share(1))];
  }

  /** RDATA of the keys of the zone of a name. */
  async function keysOf(table: ChainTable, name: string): Promise<Uint8Array[]> {
    const zone = await table.chain.zoneOf(wireName(name), table.budget());
    return zone.kind === 'secure' ? zone.keys.map(({ rdata }) => rdata) : [];
  }

  test.each([
    ['a zone with its keys', 'www.child.test', 'secure child.test'],
    ['an unsigned zone', 'www.open.test', 'insecure'],
    ['the absence of a zone', 'a.sub.test', 'secure test'],
    ['the absence of all below a name', 'svc.test', 'secure test'],
  ])('validates %s with one set of queries per node', async (_what, name, zone) => {
    const [one, other] = threads();
    one.off('www.child.test DS');
    one.on('www.child.test DS', '', CHILD.signed('www.child.test 300 NSEC x.child.test A RRSIG NSEC'));
    expect(await zoneOf(one, name)).toBe(zone);
    expect(one.takeAsked()).not.toEqual([]);
    expect(await zoneOf(other, name)).toBe(zone);
    expect(other.takeAsked()).toEqual([]);
    expect(await keysOf(other, name)).toEqual(await keysOf(one, name));
  });

  test('queries again once the shared result has expired', async () => {
    const [one, other] = threads();
    await zoneOf(one, 'test', '.');
    other.clock.advance(301_000);
    await zoneOf(other, 'test', '.');
    expect(other.takeAsked()).toEqual(['. DNSKEY']);
  });

  test('shares no bogus results, and no results at all with threads that have different trust anchors', async () => {
    const [one, other] = threads([ROOT, CHILD]);
    await zoneOf(one, 'sub.test');
    expect(await zoneOf(other, 'sub.test')).toBe('secure test');
    expect(other.takeAsked()).toEqual(['. DNSKEY', 'test DS', 'test DNSKEY', 'sub.test DS']);
    const [bogus, good] = threads();
    bogus.on('test DNSKEY', TEST.signed(TEST.dnskey).replace(/.{8}$/, 'AAAAAAA='));
    expect(await zoneOf(bogus, 'sub.test')).toBe('bogus');
    expect(await zoneOf(good, 'sub.test')).toBe('secure test');
    expect(good.takeAsked()).toEqual(['test DS', 'test DNSKEY', 'sub.test DS']);
  });

  test('discards the result of a walk whose trust anchors were replaced during it', async () => {
    const table = new ChainTable();
    const walk = zoneOf(table, 'sub.test');
    table.chain.trust(readTrustAnchors(ROOT.ds));
    expect(await walk).toBe('secure test');
    table.takeAsked();
    await zoneOf(table, 'sub.test');
    expect(table.takeAsked()).toEqual(['. DNSKEY', 'test DS', 'test DNSKEY', 'sub.test DS']);
  });
});
