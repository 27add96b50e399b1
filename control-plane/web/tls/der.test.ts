import { expect, test } from '@jest/globals';
import { elementsOf, explicit, nothing, octetString, oid, sequence, setOf, unsigned } from './der.ts';

test('setOf() sorts its elements by their DER encoding', () => {
  const [one, two] = [unsigned(Buffer.of(1)), oid('2.5.4.3')];
  expect(setOf(two, one)).toEqual(setOf(one, two));
  expect(setOf(two, one).toString('hex')).toBe('3108020101' + '0603550403');
});

test('elementsOf() splits what sequence() joined, for DER elements of all lengths', () => {
  const parts = [nothing(), octetString(Buffer.alloc(127)), octetString(Buffer.alloc(200)), explicit(0)];
  const large = octetString(Buffer.alloc(70_000));
  expect(elementsOf(sequence(...parts, large))).toEqual([...parts, large]);
});

test('elementsOf() rejects an element that is longer than its sequence', () => {
  const whole = sequence(octetString(Buffer.alloc(10)));
  whole[3] = 11;
  expect(() => elementsOf(whole)).toThrow(RangeError);
});
