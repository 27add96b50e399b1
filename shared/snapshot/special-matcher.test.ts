import { describe, expect, test } from '@jest/globals';
import { openLists, queryFor } from '../../test/support/parts/test-lists.ts';
import { SpecialMatcher, gramAt, gramSlot } from './special-matcher.ts';

const reading = { kind: 'block', subdomains: false } as const;

/** Opens lists and returns functions that match names and addresses. */
function matcherOf(...lists: string[]) {
  const snapshot = openLists(lists.map((text) => ({ text, reading })));
  const { special } = snapshot;
  const all = new Uint8Array(lists.length).fill(1);
  return {
    special,
    met: (name: string, counts = all): string[] => {
      const rules: string[] = [];
      special.forEachMatch(queryFor(name, snapshot), counts, (index) => rules.push(special.rule(index).rule));
      return rules.sort();
    },
  };
}

describe('SpecialMatcher.forEachMatch(), which finds patterns and regexes,', () => {
  test('finds a rule for a name and, if the rule includes subdomains, below the name', () => {
    const { met } = matcherOf('||ads.example^$dnstype=A\n|exact.example^$dnstype=A');
    expect(met('ads.example')).toEqual(['||ads.example^$dnstype=A']);
    expect(met('x.y.ads.example')).toEqual(['||ads.example^$dnstype=A']);
    expect(met('xads.example')).toEqual([]);
    expect(met('exact.example')).toEqual(['|exact.example^$dnstype=A']);
    expect(met('x.exact.example')).toEqual([]);
  });

  test('finds all rules of one name', () => {
    const { met } = matcherOf('||ads.example^$dnstype=A\n||ads.example^$dnstype=AAAA');
    expect(met('ads.example')).toHaveLength(2);
  });

  test('finds a pattern or expression once, even if its literals occur repeatedly', () => {
    const { met } = matcherOf('||*.shop-ads.^\n/track[0-9]+/');
    expect(met('track1.track2.track3')).toEqual(['/track[0-9]+/']);
    expect(met('track.example')).toEqual([]);
  });

  test('finds a literal at the start and the end of a name', () => {
    const { met } = matcherOf('/^abc/\n/xyz$/');
    expect(met('abc.example.xyz')).toEqual(['/^abc/', '/xyz$/']);
    expect(met('xabc.example.xyzx')).toEqual([]);
    expect(met('abc')).toEqual(['/^abc/']);
    expect(met('ab')).toEqual([]);
  });

  test('finds an expression without a literal', () => {
    const { met } = matcherOf('/^[a-f]{3}[0-9]{3}\\./');
    expect(met('abc123.example')).toHaveLength(1);
    expect(met('abz123.example')).toEqual([]);
  });

  test('does not match the names in $denyallow and their subdomains', () => {
    const { met } = matcherOf('||example^$denyallow=good.example\n/[a-z]+\\.test/$denyallow=good.test');
    expect([met('bad.example').length, met('bad.test').length]).toEqual([1, 1]);
    expect([met('good.example'), met('x.good.example'), met('x.good.test')]).toEqual([[], [], []]);
  });

  test('finds only rules of active sources', () => {
    const { met } = matcherOf('||ads.example^$dnstype=A\n/ads/\n/^[a-z]{3}\\./', '/ads\\./');
    expect(met('ads.example', Uint8Array.of(0, 1))).toEqual(['/ads\\./']);
    expect(met('ads.example', Uint8Array.of(1, 0))).toHaveLength(3);
    expect(met('ads.example', Uint8Array.of(0, 0))).toEqual([]);
  });

  test('finds no rule for the root', () => {
    const { met } = matcherOf('||ads.example^$dnstype=A\n/ads/');
    expect(met('.')).toEqual([]);
  });
});

describe('SpecialMatcher.rewrite(), the answer of a $dnsrewrite rule,', () => {
  test('contains the encoded answer data', () => {
    const long = 'x'.repeat(256);
    const { special } = matcherOf(
      [
        '||a.example^$dnsrewrite=192.0.2.7',
        '||b.example^$dnsrewrite=2001:db8::7',
        '||c.example^$dnsrewrite=NOERROR;TXT;' + long,
        '||d.example^$dnsrewrite=other.example',
        '||e.example^$dnsrewrite=REFUSED;;',
        '||f.example^$dnstype=A',
      ].join('\n'),
    );
    const rewrites = new Map(
      Array.from({ length: special.ruleCount }, (_, index) => [
        special.rule(index).text[0],
        special.rewrite(index),
      ]),
    );
    expect([rewrites.get('a')!.type, ...rewrites.get('a')!.rdata]).toEqual([1, 192, 0, 2, 7]);
    expect([...rewrites.get('b')!.rdata.subarray(0, 4)]).toEqual([0x20, 1, 0xd, 0xb8]);
    const txt = rewrites.get('c')!.rdata;
    expect([txt.length, txt[0], txt[256]]).toEqual([258, 255, 1]);
    expect(Buffer.from(rewrites.get('d')!.host!).toString('latin1')).toBe('\x05other\x07example\0');
    expect(rewrites.get('e')!.rcode).toBe(5);
    expect(rewrites.get('f')).toBeNull();
  });
});

describe('SpecialMatcher', () => {
  test('rejects a buffer with a different layout, and a rule that does not exist', () => {
    expect(() => new SpecialMatcher(new SharedArrayBuffer(128), 1, 2)).toThrow(RangeError);
    const { special } = matcherOf('/ads/');
    expect(() => special.rule(1)).toThrow('could not read special rule 1: there are 1');
  });
});

describe('gramSlot(), the hash of three letters,', () => {
  test('is an index of the table for any three letters', () => {
    for (const slots of [1024, 65_536])
      for (const letters of ['aaa', 'zzz', '\xff\xff\xff', '.-0']) {
        const slot = gramSlot(gramAt(Buffer.from(letters, 'latin1'), 0), slots);
        expect(slot).toBeGreaterThanOrEqual(0);
        expect(slot).toBeLessThan(slots);
      }
  });

  test('differs for most combinations of three letters', () => {
    const letters = Array.from({ length: 1000 }, (_, at) =>
      Buffer.from([97 + (at % 10), 97 + ((at / 10) % 10), 97 + at / 100]),
    );
    expect(new Set(letters.map((text) => gramSlot(gramAt(text, 0), 65_536))).size).toBeGreaterThan(900);
  });
});
