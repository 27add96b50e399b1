/** Sums that parts are added to and taken from again, against sums of the parts that are left. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import { type Addend, KeptSums } from './kept-sums.ts';
import { KeySums } from './key-sums.ts';
import { KeyTable } from './key-table.ts';
import { NameBook } from './name-book.ts';

const TEXTS = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example'];

/** Counts of some texts, as a list or as a block has them. */
function addendOf(book: NameBook, counts: readonly number[], isList: boolean): Addend {
  const list = book.takeCounts(
    TEXTS,
    Uint32Array.from(counts),
    Uint32Array.from(counts, (count) => 2 * count),
  );
  if (isList) return { list: list! };
  return {
    names: { book: book.keys, places: list!.places, classes: new Uint8Array(TEXTS.length).fill(1) },
    queries: counts,
  };
}

const counts = fc.array(fc.nat(5), { minLength: TEXTS.length, maxLength: TEXTS.length });
const part = fc.record({ counts, isList: fc.boolean(), isForgotten: fc.boolean() });

describe('KeptSums', () => {
  test('are the sums of the parts that are wanted, also where one that goes is not known any more', () => {
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 12 }),
        fc.array(fc.array(fc.nat(11), { maxLength: 12 }), { minLength: 1, maxLength: 6 }),
        (parts, questions) => {
          const book = new NameBook();
          const addends = parts.map((one) => addendOf(book, one.counts, one.isList));
          const kept = new KeptSums();
          for (const question of questions) {
            const wanted = new Set(question.filter((at) => at < parts.length).map(String));
            kept.keepOnly(wanted, book.keys);
            for (const key of wanted) {
              const at = Number(key);
              const find = (): Addend | undefined => (parts[at]!.isForgotten ? undefined : addends[at]);
              if (!kept.has(key)) expect(kept.add(key, addends[at]!, find)).toBe(true);
            }
            const made = new KeptSums();
            made.keepOnly(wanted, book.keys);
            for (const key of wanted) made.add(key, addends[Number(key)]!, () => undefined);
            const [found, expected] = [kept, made].map((sums) =>
              Object.fromEntries(new KeySums(sums.keys(book.keys), (sum) => ({ ...sum }))),
            );
            expect(found).toEqual(expected);
            const total = [...wanted].reduce((sum, key) => sum + sumOf(parts[Number(key)]!), 0);
            const all = Object.values(found!).reduce((sum, { resolved, blocked, other }) => {
              return sum + resolved + blocked + other;
            }, 0);
            expect(all).toBe(total);
          }
        },
      ),
    );
  });

  test('take nothing of another book, and begin again with one', () => {
    const [one, two] = [new NameBook(), new NameBook()];
    const kept = new KeptSums();
    const add = (book: NameBook): boolean =>
      kept.add('x', addendOf(book, [1, 2, 3, 4, 5], true), () => undefined);
    kept.keepOnly(new Set(), one.keys);
    expect([add(one), add(two), kept.has('x')]).toEqual([true, false, true]);
    kept.keepOnly(new Set('x'), two.keys);
    expect([kept.has('x'), new KeySums(kept.keys(two.keys), (sum) => sum).distinct, add(two)]).toEqual([
      false,
      0,
      true,
    ]);
  });

  test('are an estimate for as long as a list that left out names is one of the parts', () => {
    const book = new NameBook();
    const kept = new KeptSums();
    const { list } = addendOf(book, [1, 0, 0, 0, 0], true) as { list: Parameters<typeof asPartial>[0] };
    kept.keepOnly(new Set(), book.keys);
    kept.add('whole', { list }, () => ({ list }));
    kept.add('more', { list }, () => ({ list }));
    const partial = asPartial(list);
    kept.add('part', { list: partial }, () => ({ list: partial }));
    const isEstimate = (): boolean => new KeySums(kept.keys(book.keys), (sum) => sum).isEstimate;
    expect([isEstimate(), kept.keys(book.keys).unseen]).toEqual([true, 6]);
    kept.keepOnly(new Set(['whole', 'more']), book.keys);
    expect([isEstimate(), kept.keys(new KeyTable()).unseen]).toEqual([false, 0]);
  });
});

describe('the sketch of KeptSums', () => {
  test('has the keys of all parts, in whatever order they came and went', () => {
    const change = fc.record({ at: fc.nat(4), isGone: fc.boolean(), isAsked: fc.boolean() });
    fc.assert(
      fc.property(fc.array(part, { minLength: 5, maxLength: 5 }), fc.array(change), (parts, changes) => {
        const book = new NameBook();
        const addends = parts.map(({ counts: some, isList, isForgotten }): Addend => {
          const addend = addendOf(book, some, isList);
          return 'list' in addend && isForgotten ? { list: asPartial(addend.list) } : addend;
        });
        const kept = new KeptSums();
        const wanted = new Set<string>();
        kept.keepOnly(wanted, book.keys);
        for (const { at, isGone, isAsked } of changes) {
          const key = String(at);
          if (isGone) wanted.delete(key);
          else wanted.add(key);
          kept.keepOnly(wanted, book.keys);
          if (!isGone && !kept.has(key)) kept.add(key, addends[at]!, () => addends[at]);
          if (!isAsked) continue;
          const made = new KeptSums();
          made.keepOnly(wanted, book.keys);
          for (const other of wanted) made.add(other, addends[Number(other)]!, () => undefined);
          expect(kept.keys(book.keys).sketch).toEqual(made.keys(book.keys).sketch);
        }
      }),
    );
  });
});

function sumOf({ counts: some, isList }: { counts: readonly number[]; isList: boolean }): number {
  return some.reduce((sum, count) => sum + count * (isList ? 3 : 1), 0);
}

function asPartial(list: Extract<Addend, { list: unknown }>['list']): typeof list {
  const sketch = new DistinctSketch();
  sketch.add(Buffer.from('dropped.example'), 0, 15);
  return { ...list, groups: [1, 2], unseen: 3, sketch };
}
