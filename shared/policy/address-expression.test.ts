import { describe, expect, test } from '@jest/globals';
import { isAddressExpression } from './address-expression.ts';

describe('isAddressExpression(), whether a regex can match IP addresses,', () => {
  test.each([
    '^192\\.0\\.2\\.7$',
    '^192\\.0\\.2\\.\\d{1,3}$',
    '^192[.]0[.]2[.][0-9]+$',
    '^10(?:\\.\\d{1,3}){3}$',
    '^(10\\.0|192\\.168)\\.[0-9]+\\.[0-9]+$',
    '(?i)^203\\.0\\.113\\.([1-9]|1[0-9])$',
    '\\A1\\.2\\.3\\.4\\z',
    '^[[:digit:]]+\\.1\\.1\\.1$',
    '^2001:db8:.*$',
    '^2001:db8:[0-9a-f:]+$',
    '^fe80::[[:xdigit:]]{1,4}$',
    '^2001:db8(?::[0-9a-f]{1,4}){6}$',
  ])('is true for %s', (text) => expect(isAddressExpression(text)).toBe(true));

  test.each([
    // Each of the first three expressions blocked every name in an earlier version.
    '^[0-9]+\\.',
    '\\d+\\.',
    '^(?i:[0-9a-f]+)\\.',
    '^[a-z0-9:.]+$',
    '\\.[0-9]+$',
    '^192\\.0\\.2\\.',
    '192\\.0\\.2\\.7',
    '^1\\.2\\.3\\.4',
    '1\\.2\\.3\\.4$',
    '^1\\.2\\.3\\.4$|^5',
    '^5|^1\\.2\\.3\\.4$',
    '^1\\.2\\.3\\.4|5\\.6\\.7\\.8$',
    '^1.2.3.4$',
    '^1\\.2\\.3$',
    '^1\\.2\\.3\\.4\\.5$',
    '^(\\d+\\.)+\\d+$',
    '^(\\d+\\.){2,3}\\d+$',
    '^[0-9.]+$',
    '^[0-9a-f:]+$',
    '^[0-9a-f]+$',
    '^ads[0-9]\\.1\\.2\\.3$',
    '^https?://.*$',
    '^(?:a:)?b$',
    '^1\\.2\\.3\\.4$$',
    '^1\\.2\\.3\\.(4$',
    '^$',
    '',
    ':',
  ])('is false for %s', (text) => expect(isAddressExpression(text)).toBe(false));
});
