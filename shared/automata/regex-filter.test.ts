import { describe, expect, test } from '@jest/globals';
import { RRType, Rcode } from '../dns/iana.ts';
import { readRegexRule, refuseRegexFilter } from './regex-filter.ts';

describe('readRegexRule(), which parses a regex with options,', () => {
  const record = (type: number, rdata: string) => ({ rcode: Rcode.NOERROR, record: { type, rdata } });

  test.each([
    ['^ads\\.', '^ads\\.', {}],
    ['rj\\.example;querytype=AAAA', 'rj\\.example', { types: [RRType.AAAA] }],
    ['a;QueryType=a, aaaa', 'a', { types: [RRType.A, RRType.AAAA] }],
    ['a;querytype=!TYPE65', 'a', { exceptTypes: [RRType.HTTPS] }],
    ['a;reply=nodata', 'a', { rewrite: { rcode: Rcode.NOERROR } }],
    ['a;reply=NXDOMAIN', 'a', { rewrite: { rcode: Rcode.NXDOMAIN } }],
    ['a;reply=REFUSED;querytype=MX', 'a', { rewrite: { rcode: Rcode.REFUSED }, types: [RRType.MX] }],
    ['a;reply=192.0.2.1', 'a', { rewrite: record(RRType.A, 'c0000201') }],
    ['a;reply=2001:db8::1', 'a', { rewrite: record(RRType.AAAA, '20010db8000000000000000000000001') }],
  ])('parses %s', (text, expression, options) =>
    expect(readRegexRule(text)).toMatchObject({ expression, options }),
  );

  test.each([
    ['a;invert', 'the option ;invert is not supported: deny all other names with .* and allow these'],
    ['a;querytype=NOPE', ';querytype= with an unknown type: "NOPE"'],
    ['a;querytype=', ';querytype= with an unknown type: ""'],
    ['a;reply=IP', ';reply= must be an address, NODATA, NXDOMAIN or REFUSED, not "IP"'],
    ['a;reply=none', ';reply= must be an address, NODATA, NXDOMAIN or REFUSED, not "none"'],
    ['a;reply=192.0.2.1;reply=::1', 'at most one ;reply= is allowed; use another filter for another reply'],
    ['a;b', 'unknown option ";b": Weir has ;querytype= and ;reply='],
    ['a;', 'unknown option ";": Weir has ;querytype= and ;reply='],
  ])('rejects %s with the reason', (text, reason) => expect(readRegexRule(text)).toEqual({ reason }));
});

describe('refuseRegexFilter(), which rejects unsuitable regexes,', () => {
  test.each(['^ads', '.*', '^.*$', '.+', '.*;querytype=AAAA', '^;querytype=!A', 'rj\\.example;reply=NODATA'])(
    'accepts the regex %s',
    (text) => expect(refuseRegexFilter(text)).toBeNull(),
  );

  test.each([
    ...['^', '^^', '^|', '^$|', '(|)+', '[x]?', '^|ads', '.', '\\w+', '.*;reply=NODATA;x', '.?;reply=NODATA'],
    ...['/rj\\.example/', 'пример', '^$', '('],
  ])('rejects %s', (text) => expect(refuseRegexFilter(text)).not.toBeNull());

  test('returns the reason for a rejection', () => {
    expect(refuseRegexFilter('^')).toBe('it matches every name; if that is meant, write .*');
    expect(refuseRegexFilter('/a/')).toBe(
      'it cannot match any name: names have no slash and no colon, and letters other than ASCII are written as xn--',
    );
  });
});
