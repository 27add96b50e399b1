import { describe, expect, test } from '@jest/globals';
import { RRType, rcodeName, rrTypeCode, rrTypeName } from './iana.ts';

describe('rrTypeName()', () => {
  test.each([
    [1, 'A'],
    [65, 'HTTPS'],
    [0, 'TYPE0'],
    [65280, 'TYPE65280'],
  ])('of %d is %s', (code, name) => expect(rrTypeName(code)).toBe(name));
});

describe('rrTypeCode()', () => {
  test.each([
    ['A', 1],
    ['aaaa', 28],
    ['TYPE1', 1],
    ['type65535', 65535],
    ['TYPE0', 0],
  ])('of %s is %d', (name, code) => expect(rrTypeCode(name)).toBe(code));

  test.each([
    '',
    'B',
    'TYPE',
    'TYPE65536',
    'TYPE123456',
    'TYPE-1',
    'TYPE1x',
    'xTYPE1',
    'toString',
    '__proto__',
  ])('is undefined for the unknown type %j', (name) => expect(rrTypeCode(name)).toBeUndefined());

  test('is the inverse of rrTypeName() for each type', () => {
    for (const code of Object.values(RRType)) expect(rrTypeCode(rrTypeName(code))).toBe(code);
  });
});

describe('rcodeName()', () => {
  test.each([
    [0, 'NOERROR'],
    [3, 'NXDOMAIN'],
    [23, 'BADCOOKIE'],
    [12, 'RCODE12'],
  ])('of %d is %s', (code, name) => expect(rcodeName(code)).toBe(name));
});
