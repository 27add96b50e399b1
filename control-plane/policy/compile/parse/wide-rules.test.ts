/** Lines that would block or allow every name, and expressions that only seem to do so. */
import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../../../shared/dns/iana.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { parseLines } from '../../../../test/support/parts/parsed-lines.ts';

const EVERY_NAME = 'it matches every name';
const NO_NAME =
  'it cannot match any name: names have no slash and no colon, and letters other than ASCII are written as xn--';

describe('ListParser', () => {
  test.each(['block', 'allow'] as const)(
    'ignores a line "^" in a %slist and keeps the rules of all other lines',
    (kind) => {
      const { names, special, invalidSamples } = parseLines('||a1.example^\n^\n', {
        kind,
        subdomains: false,
      });
      expect(names).toEqual([`${kind.toUpperCase()}_SUFFIX a1.example`]);
      expect([special, invalidSamples]).toEqual([[], [{ line: 2, reason: EVERY_NAME, text: '^' }]]);
    },
  );

  test.each([
    ...[
      '^',
      '^^',
      '^|',
      '^$|',
      '(|)+',
      '[x]?',
      '^||a2.example^',
      '/./',
      '/^/',
      '@@/.*/',
      '/[a-z]/$important',
    ],
    ...['/\\./', '.*[.]?', '(ads\\.)?', '/^[a-z0-9.-]+$/', '/^/$dnsrewrite=192.0.2.1'],
  ])('refuses %s, which matches every name', (line) => {
    for (const kind of ['block', 'allow'] as const) {
      // Skipped, because an allowlist accepts no rewrites.
      if (kind === 'allow' && line.includes('dnsrewrite')) continue;
      const { names, special, invalidSamples, rules } = parseLines(`${line}\nok.example\n`, {
        kind,
        subdomains: true,
      });
      expect([special, rules, names.length, invalidSamples[0]?.reason]).toEqual([[], 1, 1, EVERY_NAME]);
    }
  });

  test.each([
    '^*',
    '*',
    '||*^',
    '||^',
    '|',
    '||',
    '*.',
    '0.0.0.0 *',
    'address=/#/0.0.0.0',
    'local-zone: "." static',
  ])('creates no rule from %s', (line) => {
    for (const kind of ['block', 'allow'] as const) {
      const { names, special, rules } = parseLines(`${line}\nok.example\n`, { kind, subdomains: true });
      expect([special, names.length, rules]).toEqual([[], 1, 1]);
    }
  });

  test.each(['/.*/', '@@/^.+$/', '*', '||*^', '@@||*^'])(
    'accepts %s in custom rules as a rule for every name',
    (line) => {
      const custom = { kind: 'block', subdomains: false, isCustom: true } as const;
      expect(parseLines(`${line}\n^\n`, custom)).toMatchObject({
        special: [{ forEveryName: true }],
        invalidSamples: [{ line: 2, reason: EVERY_NAME }],
      });
      expect(parseLines(`${line}\nok.example\n`).special).toEqual([]);
    },
  );

  test.each([
    ['* CNAME .', 'BLOCK_SUFFIX'],
    ['* CNAME rpz-passthru.', 'ALLOW_SUFFIX'],
  ] as const)(
    'accepts the root wildcard %s of a response policy zone as a rule for every name',
    (record, kind) => {
      const zone = `$TTL 60\n@ SOA a. b. 1 2 3 4 5\n${record}\n`;
      expect(parseLines(zone).special).toMatchObject([
        { kind: RuleKind[kind], text: '*', forEveryName: true },
      ]);
    },
  );

  test.each(['* CNAME .', '*. CNAME .', '* CNAME rpz-passthru.'])('refuses %s in custom rules', (record) => {
    const zone = `$TTL 60\n@ SOA a. b. 1 2 3 4 5\n${record}\nok.example CNAME .\n`;
    const { special, names, invalidSamples } = parseLines(zone, {
      kind: 'block',
      subdomains: false,
      isCustom: true,
    });
    expect([special, names]).toEqual([[], ['BLOCK_EXACT ok.example']]);
    expect(invalidSamples).toMatchObject([{ line: 3, reason: `${EVERY_NAME}; if that is meant, write *` }]);
  });

  test.each([
    ['*$denyallow=com|net', { denyallow: ['com', 'net'] }],
    ['||*^$dnstype=AAAA', { types: [RRType.AAAA] }],
    ['@@||*^$client=192.0.2.7', { clients: [expect.anything()] }],
    ['/./$client=192.0.2.7', { clients: [expect.anything()] }],
    ['/.*/$dnstype=AAAA', { types: [RRType.AAAA] }],
    ['@@/[a-z]/$denyallow=com|net', { denyallow: ['com', 'net'] }],
    ['.*;querytype=AAAA', { types: [RRType.AAAA] }],
  ])('accepts %s, because it has a condition', (line, rule) => {
    expect(parseLines(`${line}\n`).special).toEqual([expect.objectContaining(rule)]);
  });

  test.each([
    ['.*\\.pc\\.example$', '.*\\.pc\\.example$'],
    ['^ads[0-9]*\\.', '^ads[0-9]*\\.'],
    ['/^.*[^rw]\\.advh.example(\\/.*)?$/', '^.*[^rw]\\.advh.example(\\/.*)?$'],
    ['/^adv2\\.example(\\/|$)/', '^adv2\\.example(\\/|$)'],
  ])('accepts the regular expression %s', (line, text) => {
    expect(parseLines(`${line}\n`).special).toEqual([expect.objectContaining({ match: 'regex', text })]);
  });

  test.each([
    ['/^https?:\\/\\/ads\\./', 'regular expression for whole URLs'],
    ['/ads\\/banner[0-9]/', 'regular expression for whole URLs'],
    ['/^[a-z]+(:|\\/)[0-9]/', NO_NAME],
    ['/рж\\.example/', NO_NAME],
    ['/\u00e4ds[0-9]/', NO_NAME],
  ])('refuses %s, which cannot match a domain name', (line, reason) => {
    const { special, invalidSamples, skippedSamples } = parseLines(`${line}\nok.example\n`);
    expect([special, [...invalidSamples, ...skippedSamples][0]?.reason]).toEqual([[], reason]);
  });

  test.each([
    ['rj\\.example;querytype=AAAA', { text: 'rj\\.example', types: [RRType.AAAA] }],
    ['rj.example;querytype=!A', { text: 'rj.example', exceptTypes: [RRType.A] }],
    [
      '^rj\\.example$;reply=NXDOMAIN',
      { text: '^rj\\.example$', rewrite: expect.objectContaining({ rcode: 3 }) },
    ],
    [
      '(a|b)\\.rj\\.example;reply=192.0.2.1',
      { rewrite: { rcode: 0, record: { type: RRType.A, rdata: 'c0000201' } } },
    ],
  ])('reads the Pi-hole option of %s', (line, rule) => {
    expect(parseLines(`${line}\n`).special).toEqual([expect.objectContaining({ ...rule, rule: line })]);
  });

  test.each([
    ['rj\\.example;invert', /^the option ;invert is not supported/],
    ['rj\\.example;reply=IP', /^;reply= must be an address/],
    ['rj\\.example;querytype=NOPE', /^;querytype= with an unknown type/],
    ['rj\\.example;nope', /^unknown option ";nope"/],
  ])('refuses %s with the reason', (line, reason) => {
    const { special, invalidSamples } = parseLines(`${line}\nok.example\n`);
    expect(special).toEqual([]);
    expect(invalidSamples[0]?.reason).toMatch(reason);
  });

  test.each([
    ['192.0.2.0/24\n192.0.2.128/25\n198.51.100.7\n', 2 ** -24 + 2 ** -32],
    ['10.0.0.0/8\n10.1.0.0/16\n11.0.0.0/8\n', 2 ** -7],
    ['224.0.0.0/4\n', 2 ** -4],
    ['2001:db8::/32\n', 2 ** -29],
    ['2000::/4\nfe80::/10\n', 0.5],
    ['::/1\n', 1],
    ['2001:db8::1\n', 0],
    ['a.example\n', 0],
  ])('adds up which share of all addresses %j covers', (text, share) => {
    expect(parseLines(text).addressShare).toBeCloseTo(share, 12);
  });
});
