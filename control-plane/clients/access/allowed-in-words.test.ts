import { describe, expect, test } from '@jest/globals';
import { whoMayAsk, whoMayAskInPublic } from './allowed-in-words.ts';

describe('whoMayAsk()', () => {
  test.each([
    [['private', 'connected'], 'private and connected networks'],
    [['connected', '192.0.2.0/24'], 'connected networks and 192.0.2.0/24'],
    [['private', '192.0.2.0/24', '2001:db8::/32'], 'private networks, 192.0.2.0/24 and 2001:db8::/32'],
    [['192.0.2.0/26', '192.0.2.64/26', '192.0.2.128/26', '192.0.2.192/26'], '4 listed networks'],
    [['private', 'any'], 'anyone'],
    [['0.0.0.0/0'], 'anyone'],
    [[], 'only this machine and clients with a key'],
  ])('describes %j', (allowed, text) => {
    expect(whoMayAsk(allowed)).toBe(text);
  });
});

describe('whoMayAskInPublic()', () => {
  test.each([
    [['private', 'connected'], 'private and connected networks'],
    [['private', '192.0.2.0/24'], 'private networks and networks of the configuration'],
    [['any'], 'anyone'],
  ])('describes %j without listing its networks', (allowed, text) => {
    expect(whoMayAskInPublic(allowed)).toBe(text);
  });
});
