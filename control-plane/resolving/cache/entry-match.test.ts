import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../../shared/dns/name.ts';
import { CacheEntry } from '../../../shared/memory/answer-cache-layout.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { EntryMatch } from './entry-match.ts';

const AT = 32;

/** A slab with an entry of this name and type at `AT`. */
function slabWith(name: string, qtype: number): Uint8Array {
  const wire = nameFromText(name)!;
  const slab = new Uint8Array(AT + CacheEntry.QNAME + wire.length);
  new DataView(slab.buffer).setUint16(AT + CacheEntry.QTYPE, qtype, true);
  slab[AT + CacheEntry.QNAME_LENGTH] = wire.length;
  slab.set(wire, AT + CacheEntry.QNAME);
  return slab;
}

describe('EntryMatch', () => {
  test.each([
    [{}, 'a.example', 1, true],
    [{ type: 'aaaa' }, 'a.example', 28, true],
    [{ type: 'TYPE65280' }, 'a.example', 65280, true],
    [{ type: 'A' }, 'a.example', 256 + 1, false],
    [{ domain: 'A.Example.' }, 'a.example', 1, true],
    [{ domain: 'example' }, 'a.example', 1, false],
    [{ domain: 'b.a.example' }, 'a.example', 1, false],
    [{ domain: '*.example' }, 'example', 1, true],
    [{ domain: '*.example' }, 'c.b.a.example', 1, true],
    [{ domain: '*.example' }, 'anexample', 1, false],
    [{ domain: '*.example', type: 'MX' }, 'a.example', 1, false],
    [{ domain: '.' }, 'a.example', 1, false],
    [{ domain: '.' }, '.', 1, true],
    [{ domain: '*..' }, 'a.example', 1, true],
    // Bytes of a label that resemble the end of a name.
    [{ domain: '*.com' }, '\\003com.example', 1, false],
    [{ domain: '*.com' }, 'x\\003com', 1, false],
  ])('matches() with %j for the name %s and type %i is %j', (filter, name, qtype, expected) => {
    expect(new EntryMatch(filter).matches(slabWith(name, qtype), AT)).toBe(expected);
  });

  test('matches() returns the same as a comparison label by label', () => {
    const label = fc.constantFrom('a', 'b', 'aa', '\\001a', '\\001', 'a\\001b');
    const name = fc.array(label, { maxLength: 4 });
    fc.assert(
      fc.property(name, name, fc.boolean(), (own, wanted, withBelow) => {
        const text = (labels: readonly string[]): string => `${labels.join('.')}.`;
        const filter = { domain: `${withBelow ? '*.' : ''}${text(wanted)}` };
        const end = own.slice(Math.max(0, own.length - wanted.length));
        const isBelow = own.length >= wanted.length && text(end) === text(wanted);
        const expected = isBelow && (withBelow || own.length === wanted.length);
        expect(new EntryMatch(filter).matches(slabWith(text(own), 1), AT)).toBe(expected);
      }),
    );
  });

  test('matches() terminates for any content of an overwritten entry', () => {
    const slab = new Uint8Array(AT + CacheEntry.QNAME + 4).fill(0xff);
    expect(new EntryMatch({ domain: '*.example' }).matches(slab, AT)).toBe(false);
  });
});
