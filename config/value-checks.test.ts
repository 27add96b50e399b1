import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import * as checks from './value-checks.ts';

const LONG_LABEL = 'a'.repeat(63);
/** 254 characters: three labels of 63, one of 61, and the final dot. */
const LONGEST_NAME = `${`${LONG_LABEL}.`.repeat(3)}${'a'.repeat(61)}.`;

describe('isHostName()', () => {
  test.each([
    'localhost',
    'nas.home.arpa',
    'nas.home.arpa.',
    'NAS',
    '_dmarc.example.org',
    'a-b.example',
    '1.example',
    `${LONG_LABEL}.example`,
    LONGEST_NAME,
  ])('accepts %s', (name) => {
    expect(checks.isHostName(name)).toBe(true);
  });

  test.each([
    '',
    '.',
    'a..example',
    '-a.example',
    'a-.example',
    'a b',
    'bücher.example',
    '192.0.2.300',
    'example.53',
    `${LONG_LABEL}a.example`,
    `a${LONGEST_NAME}`,
  ])('refuses %j', (name) => {
    expect(checks.isHostName(name)).toBe(false);
  });
});

describe('splitHostPort()', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1', undefined],
    ['192.0.2.1:53', '192.0.2.1', 53],
    ['2001:db8::1', '2001:db8::1', undefined],
    ['[2001:db8::1]', '2001:db8::1', undefined],
    ['[2001:db8::1]:65535', '2001:db8::1', 65535],
    ['dns.example.org:1', 'dns.example.org', 1],
  ])('splits %s', (value, host, port) => {
    expect(checks.splitHostPort(value)).toEqual({ host, port });
  });

  test.each(['', ':53', '192.0.2.1:', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:123456', '[192.0.2.1]'])(
    'returns null for %j, which has no address or no valid port',
    (value) => {
      expect(checks.splitHostPort(value)).toBeUndefined();
    },
  );

  test.each(['[dns.example.org]:53', '2001:db8::1:x', '[2001:db8::1', 'a:1:2', '192.0.2.1:-1'])(
    'returns null for %j, which is neither an address nor a name with a port',
    (value) => {
      expect(checks.splitHostPort(value)).toBeUndefined();
    },
  );
});

describe('form() and orEmpty()', () => {
  const even = checks.form('an even number of letters', (value) => value.length % 2 === 0);

  test('form() reports the expected form for an invalid string and for a value that is not a string', () => {
    expect(checks.expectedInstead(even, 'ab')).toBeUndefined();
    expect(checks.expectedInstead(even, 'abc')).toBe('an even number of letters');
    expect(even.safeParse(12).error?.issues[0]?.message).toBe('an even number of letters');
    expect(even.description).toBe('an even number of letters');
  });

  test('orEmpty() accepts the empty string and mentions it in errors', () => {
    const evenOrNone = checks.orEmpty(checks.ipv4);
    expect(checks.expectedInstead(evenOrNone, '')).toBeUndefined();
    expect(checks.expectedInstead(evenOrNone, '192.0.2.1')).toBeUndefined();
    expect(checks.expectedInstead(evenOrNone, 'x')).toBe(
      'an IPv4 address such as 192.0.2.1, or an empty string',
    );
  });
});

const HASH = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b1dWRWJTmaasd';

describe.each<{ name: string; check: z.ZodType; good: readonly unknown[]; bad: readonly unknown[] }>([
  { name: 'text', check: checks.text, good: ['', 'a'], bad: [1, null] },
  { name: 'nonEmpty', check: checks.nonEmpty, good: ['a', ' a '], bad: ['', ' \t'] },
  {
    name: 'name',
    check: checks.name,
    good: ['', 'a b', 'Küche'],
    bad: [1, 'a\u202eb', 'a\nb', 'a\u200b', 'a\u001b[0m'],
  },
  { name: 'nonEmptyName', check: checks.nonEmptyName, good: ['a b'], bad: ['', ' ', 'a\u2066b', 'a\u00adb'] },
  {
    name: 'foldedName',
    check: checks.foldedName,
    good: ['a b', 'o\u00adtto'],
    bad: ['', ' ', 'a\u202eb', 'a\nb'],
  },
  { name: 'path', check: checks.path, good: ['/', 'a b', '.'], bad: ['', 'a\0b'] },
  { name: 'ip', check: checks.ip, good: ['192.0.2.1', '::1'], bad: ['', 'localhost', '192.0.2', '[::1]'] },
  { name: 'ipv4', check: checks.ipv4, good: ['192.0.2.1'], bad: ['::1', '192.0.2.256'] },
  { name: 'ipv6', check: checks.ipv6, good: ['2001:db8::1'], bad: ['192.0.2.1', '2001:db8'] },
  {
    name: 'cidr',
    check: checks.cidr,
    good: ['192.0.2.1', '192.0.2.0/0', '192.0.2.0/32', '2001:db8::/128', '::/0'],
    bad: [
      '',
      '192.0.2.0/33',
      '2001:db8::/129',
      '192.0.2.0/',
      '192.0.2.0/8/8',
      '192.0.2.0/-1',
      'fe80::1%eth0',
    ],
  },
  {
    name: 'resolver',
    check: checks.resolver,
    good: ['192.0.2.53', '192.0.2.53:53', '[2001:db8::53]:53', '2001:db8::53'],
    bad: ['dns.example.org', 'dns.example.org:53', '192.0.2.53:0', '', 'fe80::1', '[fe80::1]:53'],
  },
  {
    name: 'hostPort',
    check: checks.hostPort,
    good: ['192.0.2.1:53', 'ntp.example.org', 'ntp.example.org:123', '[::1]:1', 'fe80::1%eth0'],
    bad: ['', 'a b:1', '192.0.2.300', 'example.org:0', 'fe80::1'],
  },
  { name: 'domain', check: checks.domain, good: ['home.arpa', 'lan'], bad: ['', '*.home.arpa', '192.0.2.1'] },
  {
    name: 'issuer',
    check: checks.issuer,
    good: [
      'https://login.example.org',
      'https://example.org/realms/home/',
      'http://127.0.0.1:9',
      'http://[::1]',
    ],
    bad: [
      '',
      'http://login.example.org',
      'http://127.0.0.1.example.org',
      'https://example.org?a=b',
      'https://a:b@example.org',
    ],
  },
  {
    name: 'webUrl',
    check: checks.webUrl,
    good: ['http://a', 'https://example.org/services.json', 'HTTPS://EXAMPLE.ORG'],
    bad: ['', 'ftp://example.org', 'https://', 'example.org', 'file:///etc/passwd'],
  },
  {
    name: 'argon2Hash',
    check: checks.argon2Hash,
    good: [HASH, HASH.replace('m=65536,t=3,p=4', 'p=4,t=3,m=65536')],
    bad: ['', HASH.replace('argon2id', 'argon2i'), HASH.replace(',p=4', ''), `${HASH} `, `x${HASH}`],
  },
  {
    name: 'localRecord',
    check: checks.localRecord,
    good: ['nas.home.arpa A 192.0.2.5', 'nas.home.arpa 300 AAAA 2001:db8::5'],
    bad: ['', 'nas.home.arpa', 'nas.home.arpa A 2001:db8::5', 'nas.home.arpa NOTYPE 1'],
  },
])('$name', ({ name, check, good, bad }) => {
  test.each(good)(`${name} accepts %j`, (value) => {
    expect(check.safeParse(value).success).toBe(true);
  });

  test.each(bad)(`${name} refuses %j`, (value) => {
    expect(check.safeParse(value).success).toBe(false);
  });
});

describe('postgresUrls', () => {
  const [one, two] = ['postgres://weir@db1.example.org/weir', 'postgresql://weir@db2.example.org:5432/weir'];

  test('accepts a list, and a string of URLs separated by white space', () => {
    expect(checks.postgresUrls.parse([one, two])).toEqual([one, two]);
    expect(checks.postgresUrls.parse(` ${one}\n\t${two} `)).toEqual([one, two]);
    expect(checks.postgresUrls.parse('')).toEqual([]);
  });

  test('names an invalid URL in its error', () => {
    const { issues } = checks.postgresUrls.safeParse([one, 'mysql://db.example.org']).error!;
    expect(issues.map(({ path }) => path)).toEqual([[1]]);
    expect(checks.postgresUrls.safeParse(5).error!.issues[0]!.message).toBe('a list of strings');
  });
});
