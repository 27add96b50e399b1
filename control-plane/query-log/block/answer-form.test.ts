/** Conversion of answer records to the form in which they are stored. */
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { AnswerForm, ReducedAnswers, restoreTtls, secsBeyond } from './answer-form.ts';
import { viewed } from './viewed-bytes.ts';

const ttl = fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.integer({ min: 0, max: 3 }));
const record = fc.record({
  owner: fc.constantFrom([0xc0, 12], [1, 97, 0], [0]),
  type: fc.constantFrom(1, 5, 28),
  ttl,
  rdata: fc.uint8Array({ minLength: 0, maxLength: 5 }),
});

/** Records as in a response. */
function toWire(records: readonly (typeof record extends fc.Arbitrary<infer T> ? T : never)[]): Uint8Array {
  return Buffer.concat(
    records.map(({ owner, type, ttl: secs, rdata }) => {
      const fields = Buffer.alloc(10);
      fields.writeUInt16BE(type, 0);
      fields.writeUInt16BE(1, 2);
      fields.writeUInt32BE(secs, 4);
      fields.writeUInt16BE(rdata.length, 8);
      return Buffer.concat([Buffer.from(owner), fields, rdata]);
    }),
  );
}

function reduce(bytes: Uint8Array): ReducedAnswers {
  const reduced = new ReducedAnswers();
  reduced.take(viewed(Buffer.concat([Buffer.from('b'), bytes])), 1, bytes.length);
  return reduced;
}

describe('ReducedAnswers', () => {
  test('restore the bytes of generated answers exactly', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 4 }), (records) => {
        const bytes = toWire(records);
        const { bytes: stored, length, form, smallestTtl } = reduce(bytes);
        const restored = stored.slice(0, length);
        restoreTtls(restored, form, smallestTtl);
        expect(Buffer.from(restored)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('leaves bytes that are not records unchanged', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 3 }), (records) => {
        const cut = toWire(records).subarray(0, -1);
        const { bytes, length, form } = reduce(cut);
        expect(form).toBe(AnswerForm.AS_SENT);
        expect(Buffer.from(bytes.subarray(0, length))).toEqual(Buffer.from(cut));
      }),
    );
  });
});

describe('secsBeyond()', () => {
  test('detects whether two generated answers have the same stored form, and returns how much their TTLs differ', () => {
    const pair = fc.tuple(fc.array(record, { minLength: 1, maxLength: 3 }), fc.nat({ max: 5 }), fc.nat());
    fc.assert(
      fc.property(pair, fc.boolean(), ([records, older, at], isSame) => {
        const entry = reduce(toWire(records));
        const other = toWire(records.map((one) => ({ ...one, ttl: Math.max(0, one.ttl - older) })));
        if (!isSame) other[at % other.length]! ^= 1 << (at % 8);
        const expected = reduce(other);
        const isEqual =
          expected.form === AnswerForm.TTLS_REDUCED &&
          Buffer.compare(
            expected.bytes.subarray(0, expected.length),
            entry.bytes.subarray(0, entry.length),
          ) === 0;
        const source = Buffer.concat([Buffer.from('before'), other, Buffer.from('after')]);
        const seconds = secsBeyond(entry.view, 0, viewed(source), 6, other.length);
        expect(seconds).toBe(isEqual ? expected.smallestTtl : -1);
      }),
      { numRuns: 500 },
    );
  });
});
