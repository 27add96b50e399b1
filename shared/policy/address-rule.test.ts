import { describe, expect, test } from '@jest/globals';
import { isAddressName, isAddressPattern } from './address-rule.ts';

describe('isAddressName(), whether a name has the form of an IP address,', () => {
  test.each(['192.0.2.1', '0.0.0.0', '2001:db8::1', '::'])('is true for %s', (name) =>
    expect(isAddressName(name)).toBe(true),
  );
  test.each(['a.example', '192.0.2', '192.0.2.1.2', '1920.0.2.1', 'x192.0.2.1', '192.0.2.1x'])(
    'is false for %s',
    (name) => expect(isAddressName(name)).toBe(false),
  );
});

describe('isAddressPattern(), whether a pattern can match IP addresses,', () => {
  test.each(['||192.0.2.', '192.0.*.7^', '|10.1', '1.2'])('is true for %s', (text) =>
    expect(isAddressPattern(text)).toBe(true),
  );
  test.each(['||ads.', '||192*168', '...', '192.0.2.x', '192.0^2'])('is false for %s', (text) =>
    expect(isAddressPattern(text)).toBe(false),
  );
});
