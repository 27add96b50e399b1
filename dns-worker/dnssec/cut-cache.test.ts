import { expect, test } from '@jest/globals';
import { readRecords } from '../../test/support/dns/record-text.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { TEST } from '../../test/support/dns/validation-fixture.ts';
import { createSealedRecords, SealedRecords } from '../../shared/memory/sealed-records.ts';
import { type Cut, CutCache } from './cut-cache.ts';
import { Dnskey } from './dnskey.ts';
import { nameKey } from './names.ts';

const NAME = wireName('test');
const KEY = nameKey(NAME);

function threads(): [CutCache, CutCache] {
  const memory = createSealedRecords(2);
  const cacheOf = (worker: number): CutCache =>
    new CutCache(new SealedRecords(memory, worker, new Uint8Array(0)));
  return [cacheOf(0), cacheOf(1)];
}

/** A secure cut with this many copies of the same key. */
function secure(copies: number): Cut {
  const { rdata } = readRecords(TEST.dnskey)[0]!;
  const keys = Array.from({ length: copies }, () => Dnskey.read(rdata)!);
  return { kind: 'secure', name: NAME, keys };
}

test.each<[string, Cut]>([
  ['a zone with two keys', secure(2)],
  ['an unsigned zone', { kind: 'insecure' }],
  ['the absence of a zone', { kind: 'none' }],
  ['the absence of all below a name', { kind: 'nothing-below' }],
])('CutCache shares %s with other threads until it expires', (_what, cut) => {
  const [one, other] = threads();
  one.keep(NAME, KEY, { cut, expiresAtMs: 1000.5 });
  expect(other.find(KEY, 0)).toBeUndefined();
  expect(other.findShared(NAME, KEY, 1000.5)).toBeUndefined();
  expect(other.findShared(NAME, KEY, 1000)).toEqual(cut);
  for (const cuts of [one, other]) {
    expect(cuts.find(KEY, 1000)).toEqual(cut);
    expect(cuts.find(KEY, 1000.5)).toBeUndefined();
  }
});

test.each<[string, Cut]>([
  ['a bogus cut', { kind: 'bogus', extendedError: 6 }],
  ['more keys than fit into a record', secure(200)],
])('CutCache does not share %s with other threads', (_what, cut) => {
  const [one, other] = threads();
  one.keep(NAME, KEY, { cut, expiresAtMs: 1000 });
  expect(one.find(KEY, 0)).toEqual(cut);
  expect(other.findShared(NAME, KEY, 0)).toBeUndefined();
});

test('CutCache evicts the oldest of 20,000 zone cuts', () => {
  const cuts = new CutCache(null);
  for (let i = 0; i <= 20_000; i++) cuts.keep(NAME, String(i), { cut: { kind: 'none' }, expiresAtMs: 1000 });
  expect(cuts.find('0', 0)).toBeUndefined();
  expect(cuts.find('1', 0)).toEqual({ kind: 'none' });
  expect(cuts.find('20000', 0)).toEqual({ kind: 'none' });
});
