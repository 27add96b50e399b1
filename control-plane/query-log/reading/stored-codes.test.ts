import { describe, expect, test } from '@jest/globals';
import {
  dnssecFromStored,
  protocolFromStored,
  rcodeFromName,
  rcodeFromStored,
  statusFromStored,
  typeFromStored,
} from './stored-codes.ts';

describe('typeFromStored()', () => {
  test.each([
    [1, 'A'],
    [65, 'HTTPS'],
    [0x7fff, 'TYPE32767'],
    [-256, 'TYPE65280'],
    [-1, 'TYPE65535'],
  ])('calls %d %s', (stored, name) => expect(typeFromStored(stored)).toBe(name));
});

describe('rcodeFromName()', () => {
  test('reads what rcodeFromStored() says, in any case', () => {
    for (const code of [0, 3, 5, 12, 16, 23, 4095])
      expect(rcodeFromName(rcodeFromStored(code).toLowerCase())).toBe(code);
    expect([rcodeFromStored(3), rcodeFromStored(12)]).toEqual(['NXDOMAIN', 'RCODE12']);
  });

  test.each(['', 'NONSENSE', 'RCODE', 'RCODE12345', 'RCODE1x', 'xRCODE1', 'toString'])(
    'knows no code of %j',
    (name) => expect(rcodeFromName(name)).toBeNull(),
  );
});

describe('statusFromStored(), protocolFromStored() and dnssecFromStored()', () => {
  test('name what is stored, and what a later version may store', () => {
    expect([4, 17, 99].map(statusFromStored)).toEqual(['BLOCKED_LIST', 'BLOCKED_NON_FQDN', 'ALLOWED']);
    expect([1, 3, 99].map(protocolFromStored)).toEqual(['tcp', 'doh', 'udp']);
    expect([1, 4, 99].map(dnssecFromStored)).toEqual(['secure', 'indeterminate', 'unchecked']);
  });
});
