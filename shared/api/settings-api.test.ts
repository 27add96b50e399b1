import { describe, expect, test } from '@jest/globals';
import { ConfigQuery, DnsSettingsBody } from './settings-api.ts';

describe('ConfigQuery', () => {
  test('forces a change only if it says so', () => {
    expect(
      [{}, { force: 'false' }, { force: 'true' }].map((query) => ConfigQuery.parse(query).force),
    ).toEqual([false, false, true]);
    expect(ConfigQuery.safeParse({ force: 'yes' }).success).toBe(false);
  });
});

describe('DnsSettingsBody', () => {
  test('takes domains in the form in which they are compared, and none', () => {
    const domainOf = (domain: string): unknown =>
      DnsSettingsBody.parse({ local_domain: domain }).local_domain;
    expect(['Home.ARPA.', ' '].map(domainOf)).toEqual(['home.arpa', '']);
    expect(DnsSettingsBody.safeParse({ local_domain: 'not a name' }).success).toBe(false);
  });
});
