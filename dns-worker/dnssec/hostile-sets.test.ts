/**
 * RRsets with thousands of signatures, keys and DS records: the tests count the work, because time depends on the
 * machine.
 */
import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { readRecords, signedSets } from '../../test/support/dns/record-text.ts';
import { INCEPTION, TestZone } from '../../test/support/dns/test-zone.ts';
import { Budget } from './budget.ts';
import { Dnskey, type Ds } from './dnskey.ts';
import { proveSet } from './signature.ts';
import { proveKeys } from './zone-keys.ts';

const MANY = 2000;
const ZONE = wireName('test');
const TEST = new TestZone('test');

/** Counts each read of a field. */
class ReadCounter {
  reads = 0;

  watch<T extends object>(target: T, field: keyof T): T {
    const value = target[field];
    return Object.defineProperty(target, field, {
      get: () => {
        this.reads++;
        return value;
      },
    });
  }
}

/** Invalid keys, each with a different tag. */
function manyKeys(): Dnskey[] {
  return Array.from({ length: MANY }, (_, i) => {
    const rdata = Uint8Array.from([1, 0, 3, 15, i >> 8, i & 0xff, ...new Uint8Array(30)]);
    return Dnskey.read(rdata)!;
  });
}

describe('proveSet(), which verifies an RRset,', () => {
  const [set] = signedSets(TEST.signed('www.test 300 A 192.0.2.1'));
  const [genuine] = set!.signatures;
  const own = Dnskey.read(readRecords(TEST.dnskey)[0]!.rdata)!;

  test('compares each of 2,000 keys once with 2,000 signatures, and finds the valid signature', async () => {
    const counter = new ReadCounter();
    // The zone's key differs from run to run: if it had the same tag as one of the 2,000 keys, that key would also be
    // tried.
    const unknownTag = own.tag ^ 0x8000;
    const others = manyKeys().filter(({ tag }) => tag !== own.tag && tag !== unknownTag);
    const keys = [...others, own].map((key) => counter.watch(key, 'tag'));
    const unknown = Array.from({ length: MANY }, () => ({ ...genuine!, keyTag: unknownTag }));
    const flood = { ...set!, signatures: [...unknown, genuine!] };
    const proof = await proveSet(flood, { name: ZONE, keys }, INCEPTION, new Budget(0));
    expect(proof).toMatchObject({ kind: 'secure' });
    expect(counter.reads).toBeLessThanOrEqual(2 * keys.length);
  });

  test('sorts an RRset once, and not at all when its budget is spent', async () => {
    const counter = new ReadCounter();
    const wrong = { ...genuine!, signature: new Uint8Array(64) };
    const flood = counter.watch({ ...set!, signatures: Array.from({ length: MANY }, () => wrong) }, 'rdatas');
    const budget = new Budget(0);
    const prove = (): ReturnType<typeof proveSet> =>
      proveSet(flood, { name: ZONE, keys: [own] }, INCEPTION, budget);
    expect(await prove()).toMatchObject({ kind: 'bogus' });
    expect(counter.reads).toBe(1);
    expect(budget.isSpent).toBe(true);
    expect(await prove()).toMatchObject({ kind: 'bogus' });
    expect(counter.reads).toBe(1);
  });
});

describe('proveKeys(), which verifies a DNSKEY RRset,', () => {
  test('compares each of 2,000 DS records once with 2,000 keys', async () => {
    const counter = new ReadCounter();
    const rdatas = manyKeys().map((key) => key.rdata);
    const { rdata } = readRecords(TEST.dnskey)[0]!;
    const own = Dnskey.read(rdata)!;
    const digest = (of: Uint8Array): Uint8Array => createHash('sha256').update(ZONE).update(of).digest();
    const wrong = Array.from({ length: MANY }, (_, i) => ({
      tag: 0xffff - i,
      algorithm: 15,
      digestType: 2,
      digest: digest(Uint8Array.of(i)),
    }));
    const right = { tag: own.tag, algorithm: 15, digestType: 2, digest: digest(rdata) };
    const ds: Ds[] = [...wrong.filter(({ tag }) => tag !== own.tag), right].map((it) =>
      counter.watch(it, 'tag'),
    );
    const [set] = signedSets(TEST.signed(TEST.dnskey));
    const flood = { ...set!, rdatas: [...rdatas, ...set!.rdatas] };
    const { cut } = await proveKeys(ZONE, { ds, keys: [] }, flood, INCEPTION, new Budget(0));
    // The other keys are not signed.
    expect(cut.kind).toBe('bogus');
    expect(counter.reads).toBeLessThanOrEqual(2 * ds.length);
    expect((await proveKeys(ZONE, { ds, keys: [] }, set, INCEPTION, new Budget(0))).cut.kind).toBe('secure');
  });
});
