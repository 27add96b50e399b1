import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readFault } from '../../shared/api/client/faults/read-fault.ts';
import { checkValue } from './validate.ts';

describe('checkValue(), the check of a value against its schema,', () => {
  test('returns the checked value', () => {
    expect(checkValue(z.string().trim(), ' a ')).toEqual({ value: 'a', faults: null });
  });

  test.each<[string, z.ZodType, unknown]>([
    ['missing; expected a string', z.string(), undefined],
    ['missing; expected an integer', z.int(), undefined],
    ['missing; expected "a" or "b"', z.enum(['a', 'b']), undefined],
    ['expected a string, got a number', z.string(), 3],
    ['expected a string, got a list', z.string(), ['secret']],
    ['expected a number, got null', z.number(), null],
    ['expected a number', z.number(), Number.NaN],
    ['expected an integer, got a string', z.int(), 'secret'],
    ['expected an integer', z.int(), 1.5],
    ['expected true or false, got a string', z.boolean(), 'secret'],
    ['expected a list, got an object', z.array(z.int()), { secret: 1 }],
    ['expected an object, got true', z.strictObject({}), true],
    ['expected an object, got a string', z.record(z.string(), z.int()), 'secret'],
    ['expected "a", "b" or "c"', z.enum(['a', 'b', 'c']), 'secret'],
    ['expected 1, 2 or 4', z.literal([1, 2, 4]), 3],
    ['expected "a"', z.literal('a'), 'secret'],
    ['must not be empty', z.string().min(1), ''],
    ['must have at least 8 characters', z.string().min(8), 'secret'],
    ['must have at most 5 characters', z.string().max(5), 'secret'],
    ['must have exactly 5 characters', z.string().length(5), 'secret'],
    ['must have at least 1 item', z.array(z.int()).min(1), []],
    ['must have at least 2 items', z.array(z.int()).min(2), [1]],
    ['must have at most 2 items', z.array(z.int()).max(2), [1, 2, 3]],
    ['must have exactly 2 items', z.array(z.int()).length(2), [1]],
    ['must be at least 1', z.int().min(1), -7],
    ['must be at most 5', z.int().max(5), 9],
    ['expected an IPv4 address', z.ipv4(), 'secret'],
    ['expected an IPv6 address', z.ipv6(), 'secret'],
    ['expected a time such as 2026-07-20T18:30:00Z', z.iso.datetime(), 'secret'],
    ['expected YYYY-MM-DD', z.iso.date(), 'secret'],
    ['expected Base64', z.base64(), '?secret'],
    ['the value is not valid', z.union([z.int(), z.boolean()]), 'secret'],
    ['the value is not valid', z.string().regex(/^\d$/), 'secret'],
  ])('reports the fault "%s", which has a code', (line, schema, value) => {
    expect(checkValue(schema, value).faults).toMatchObject([{ message: line }]);
    expect(readFault(line)).not.toBeNull();
  });

  test('reports the message that the schema itself contains', () => {
    expect(checkValue(z.string('expected a type'), 3).faults).toMatchObject([{ message: 'expected a type' }]);
  });
});
