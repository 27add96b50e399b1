import { describe, expect, test } from '@jest/globals';
import { ImportFault } from '../files/import-fault.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { isNextdns, mapNextdns } from './map-nextdns.ts';

const filesOf = (text: string) => new Map([[ONLY_TEXT, Buffer.from(text)]]);
const planOf = (profile: object) => mapNextdns(filesOf(JSON.stringify(profile)));
const keysOf = (profile: object) =>
  Object.fromEntries(planOf(profile).keys.map(({ key, value }) => [key, value]));

test('isNextdns() requires two sections of a NextDNS profile', () => {
  expect(isNextdns(filesOf('{"denylist": [], "privacy": {}}'))).toBe(true);
  expect(isNextdns(filesOf('{"denylist": []}'))).toBe(false);
  expect(isNextdns(filesOf('denylist'))).toBe(false);
});

describe('mapNextdns()', () => {
  test('refuses a JSON file that is not a NextDNS profile', () => {
    expect(() => mapNextdns(filesOf('denylist'))).toThrow(ImportFault);
  });

  test.each([
    [3600, 1],
    [7_776_000, 90],
    [999_999_999, 3650],
  ])('keeps the log for %s seconds as %s days', (retention, days) => {
    expect(keysOf({ settings: { logs: { retention } } })).toEqual({ 'database.query_log_days': days });
  });

  test('maps logs without names to a disabled log, and logs without addresses to anonymous clients', () => {
    const privacyOf = (ip: boolean, domain: boolean) =>
      keysOf({ settings: { logs: { drop: { ip, domain } } } });
    expect(privacyOf(true, true)).toEqual({ 'database.query_log_privacy': 'off' });
    expect(privacyOf(true, false)).toEqual({ 'database.query_log_privacy': 'anonymous_clients' });
    expect(privacyOf(false, false)).toEqual({});
  });

  test('maps safe search and the restricted mode of YouTube separately', () => {
    const safeOf = (parentalControl: object) =>
      planOf({ parentalControl })
        .items.filter(({ kind }) => kind === 'safe_search')
        .map(({ name }) => name);
    expect(safeOf({ youtubeRestrictedMode: true })).toEqual(['youtube']);
    expect(safeOf({ safeSearch: true })).not.toContain('youtube');
    expect(safeOf({ safeSearch: true })).toContain('google');
  });
});
