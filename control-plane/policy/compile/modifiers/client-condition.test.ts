import { describe, expect, test } from '@jest/globals';
import { readClientCondition, splitUnescaped } from './client-condition.ts';

const mapped = (digits: string): string => `${'0'.repeat(20)}ffff${digits}`;

describe('readClientCondition()', () => {
  test.each([
    ['192.0.2.1', { clients: [{ address: mapped('c0000201'), bits: 128 }] }],
    ['~192.0.2.77/24', { exceptClients: [{ address: mapped('c0000200'), bits: 120 }] }],
    ['2001:db8::/32', { clients: [{ address: `20010db8${'0'.repeat(24)}`, bits: 32 }] }],
    ['02-00-5E-10-00-01', { clientNames: ['02:00:5e:10:00:01'] }],
    ['Laptop|~"My TV"', { clientNames: ['laptop'], exceptClientNames: ['my tv'] }],
    [`'a\\|b'|c\\,d`, { clientNames: ['a|b', 'c,d'] }],
    [`"it's"|'a"|"`, { clientNames: ["it's", `'a"`, '"'] }],
    [' tv |~ x', { clientNames: ['tv'], exceptClientNames: ['x'] }],
    ['a'.repeat(200), { clientNames: ['a'.repeat(200)] }],
  ])('reads %s', (value, condition) => {
    expect(readClientCondition(value)).toEqual(condition);
  });

  test.each([
    ['', '$client with a value that is not a name: '],
    ['tv|', '$client with a value that is not a name: '],
    ['~', '$client with a value that is not a name: '],
    ['a\u0007', '$client with a value that is not a name: a\u0007'],
    ['a'.repeat(201), `$client with a value that is not a name: ${'a'.repeat(40)}`],
    ['192.0.2', '$client with a value that is not an address or a network: 192.0.2'],
    ['192.0.2.0/33', '$client with a value that is not an address or a network: 192.0.2.0/33'],
    ['tv:x', '$client with a value that is not an address or a network: tv:x'],
    ['tv|1.2.3.4.5|x', '$client with a value that is not an address or a network: 1.2.3.4.5'],
  ])('reports why %j cannot be used', (value, reason) => {
    expect(readClientCondition(value)).toBe(reason);
  });
});

describe('splitUnescaped()', () => {
  test.each([
    ['', ['']],
    ['a', ['a']],
    ['a,b,,c,', ['a', 'b', '', 'c', '']],
    ['a\\,b,c', ['a\\,b', 'c']],
    ['a\\\\,b', ['a\\\\', 'b']],
    ['a\\', ['a\\']],
  ])('splits %j', (text, parts) => {
    expect(splitUnescaped(text, ',')).toEqual(parts);
  });
});
