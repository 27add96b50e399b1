/** Queries for special-use names, answered by a whole pipeline. */
import { describe, expect, test } from '@jest/globals';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { ask, pipelineWith } from '../support/parts/asked-pipeline.ts';

const { BLOCK_PRIVATE_PTR, BLOCK_NON_FQDN, NEVER_FORWARD_NON_FQDN, NEVER_FORWARD_REVERSE } = QuestionFlag;
const { SPECIAL_NAMES, DOH_CANARY, PRIVATE_RELAY_CANARY } = QuestionFlag;

const withFlags = (questionFlags: number, records: readonly string[] = []) =>
  pipelineWith(records, { questionFlags });

const ip6 = (first: string): string =>
  `${'0.'.repeat(32 - first.length)}${first.split('').reverse().join('.')}.ip6.arpa`;

const LOOPBACK = `1.${'0.'.repeat(31)}ip6.arpa`;

describe('reverse names of private addresses (special names enabled, private PTR blocked)', () => {
  const records = ['nas.example.org A 192.168.1.5', 'six.example.org AAAA fd00::5'];
  const pipeline = withFlags(BLOCK_PRIVATE_PTR | SPECIAL_NAMES, records);

  test.each([
    '1.0.0.10.in-addr.arpa',
    '1.1.16.172.in-addr.arpa',
    '1.1.31.172.in-addr.arpa',
    '6.1.168.192.in-addr.arpa',
  ])(
    '%s: a PTR query gets NXDOMAIN as blocked, other types get NXDOMAIN because the name is reserved',
    (name) => {
      const asked = ask(pipeline, name, 'PTR');
      expect(asked).toMatchObject({ rcode: 'NXDOMAIN', status: 'BLOCKED_PTR', answers: [] });
      expect(asked.authorities).toHaveLength(1);
      for (const type of ['A', 'TXT', 'SOA', 'DS'] as const)
        expect(ask(pipeline, name, type)).toMatchObject({ rcode: 'NXDOMAIN', status: 'LOCAL' });
    },
  );

  test.each([
    '1.1.254.169.in-addr.arpa',
    '1.0.64.100.in-addr.arpa',
    '9.0.0.127.in-addr.arpa',
    '1.2.0.192.in-addr.arpa',
    ip6('fd12'),
    ip6('fc00'),
    ip6('fe80'),
    ip6('20010db8'),
  ])('%s: every type gets NXDOMAIN because the name is reserved', (name) => {
    for (const type of ['PTR', 'A'] as const)
      expect(ask(pipeline, name, type)).toMatchObject({ rcode: 'NXDOMAIN', status: 'LOCAL' });
    expect(ask(withFlags(BLOCK_PRIVATE_PTR), name, 'PTR').result).toBe('unresolved');
  });

  test.each([
    ['1.168.192.in-addr.arpa', '168.192.in-addr.arpa'],
    ['6.1.31.172.IN-ADDR.arpa', '31.172.in-addr.arpa'],
    ['1.1.254.169.in-addr.arpa', '254.169.in-addr.arpa'],
    [ip6('fd12'), 'd.f.ip6.arpa'],
  ])('give the locally served zone as owner of the SOA: %s', (name, zone) => {
    for (const type of ['PTR', 'A'] as const) {
      const [soa] = ask(pipeline, name, type).authorities;
      expect(soa?.toLowerCase()).toBe(`${zone} soa`);
    }
  });

  test.each([
    '168.192.in-addr.arpa',
    '10.in-addr.arpa',
    '31.172.in-addr.arpa',
    'd.f.ip6.arpa',
    '127.in-addr.arpa',
  ])('give SOA and NS records at the apex of the locally served zone (RFC 6303 section 3): %s', (zone) => {
    const local = { rcode: 'NOERROR', status: 'LOCAL' };
    const [soa, ns] = [ask(pipeline, zone, 'SOA'), ask(pipeline, zone, 'NS')];
    expect(soa).toMatchObject({ ...local, authorities: [] });
    expect(soa.answers).toHaveLength(1);
    expect(ns).toMatchObject({ ...local, answers: [`${zone} NS ${zone}`] });
    for (const type of ['PTR', 'A'] as const)
      expect(ask(pipeline, zone, type)).toMatchObject({ ...local, answers: [] });
    expect(ask(pipeline, zone, 'DS').result).toBe('unresolved');
  });

  test.each([
    '1.1.15.172.in-addr.arpa',
    '1.1.32.172.in-addr.arpa',
    '1.1.1.1.in-addr.arpa',
    '1.110.in-addr.arpa',
    ip6('2606'),
  ])('do not include %s, which is forwarded', (name) =>
    expect(ask(pipeline, name, 'PTR').result).toBe('unresolved'),
  );

  test('of local records are answered from the records', () => {
    expect(ask(pipeline, '5.1.168.192.in-addr.arpa', 'PTR').answers).toEqual([
      '5.1.168.192.in-addr.arpa PTR nas.example.org',
    ]);
    expect(ask(pipeline, `5.${'0.'.repeat(27)}0.0.d.f.ip6.arpa`, 'PTR').answers).toHaveLength(1);
  });

  test('are forwarded for PTR and SOA if private PTR blocking is disabled', () => {
    for (const type of ['PTR', 'SOA'] as const)
      expect(ask(withFlags(SPECIAL_NAMES), '1.0.0.10.in-addr.arpa', type).result).toBe('unresolved');
  });
});

describe('single-label names', () => {
  test.each([
    [BLOCK_NON_FQDN, 'BLOCKED_NON_FQDN'],
    [NEVER_FORWARD_NON_FQDN, 'LOCAL'],
    [BLOCK_NON_FQDN | NEVER_FORWARD_NON_FQDN, 'BLOCKED_NON_FQDN'],
  ])(
    'are NXDOMAIN with the question flags %i and log status %s; local names are answered',
    (flag, status) => {
      const pipeline = withFlags(flag, ['nas A 192.0.2.5']);
      expect(ask(pipeline, 'printer')).toMatchObject({ rcode: 'NXDOMAIN', status });
      expect(ask(pipeline, 'printer', 'HTTPS').rcode).toBe('NXDOMAIN');
      expect(ask(pipeline, 'nas').answers).toEqual(['nas A 192.0.2.5']);
      for (const [name, type] of [
        ['org', 'NS'],
        ['org', 'DS'],
        ['.', 'NS'],
        ['example.org', 'A'],
      ] as const)
        expect(ask(pipeline, name, type).result).toBe('unresolved');
    },
  );

  test('are forwarded if neither blocking nor the ban on forwarding is enabled', () => {
    expect(ask(withFlags(0), 'printer').result).toBe('unresolved');
  });
});

describe("a schedule of the client's group", () => {
  const ALL = BLOCK_PRIVATE_PTR | BLOCK_NON_FQDN | SPECIAL_NAMES | DOH_CANARY | PRIVATE_RELAY_CANARY;
  const scheduled = (override: 'AllowAll' | 'BlockAll') =>
    pipelineWith([], {
      questionFlags: ALL,
      overrides: new Map([[1, { override, nextFlipAtSecs: 0 }]]),
    });

  test('unblocks special names while it allows everything; reserved names are still answered locally', () => {
    const pipeline = scheduled('AllowAll');
    for (const [name, type] of [
      ['printer', 'A'],
      ['1.0.0.10.in-addr.arpa', 'PTR'],
      ['use-application-dns.net', 'A'],
      ['mask.icloud.com', 'A'],
    ] as const)
      expect([name, ask(pipeline, name, type).result]).toEqual([name, 'unresolved']);
    for (const [name, type] of [
      ['localhost', 'A'],
      ['a.test', 'A'],
      ['1.0.0.10.in-addr.arpa', 'A'],
      ['9.0.0.127.in-addr.arpa', 'PTR'],
    ] as const)
      expect([name, ask(pipeline, name, type).status]).toEqual([name, 'LOCAL']);
  });

  test('blocks reserved names while it blocks everything', () => {
    const pipeline = scheduled('BlockAll');
    for (const name of ['localhost', 'a.test', 'printer', 'use-application-dns.net'])
      expect([name, ask(pipeline, name).status]).toEqual([name, 'BLOCKED_SCHEDULE']);
  });
});

test('reverse look-ups give NXDOMAIN if their forwarding is disabled', () => {
  const pipeline = withFlags(NEVER_FORWARD_REVERSE);
  expect(ask(pipeline, '1.1.1.1.in-addr.arpa', 'PTR').rcode).toBe('NXDOMAIN');
  expect(ask(pipeline, ip6('2606'), 'PTR').rcode).toBe('NXDOMAIN');
  expect(ask(pipeline, 'example.org', 'PTR').result).toBe('unresolved');
});

describe('reserved names (RFC 6761)', () => {
  const pipeline = withFlags(SPECIAL_NAMES, ['router.home.arpa A 192.0.2.1', 'printer.local A 192.0.2.2']);

  test.each([
    ['localhost', 'A', ['localhost A 127.0.0.1']],
    ['x.LOCALHOST', 'AAAA', ['x.LOCALHOST AAAA ::1']],
    ['localhost', 'TXT', []],
    ['1.0.0.127.in-addr.arpa', 'PTR', ['1.0.0.127.in-addr.arpa PTR localhost']],
    [LOOPBACK, 'PTR', [`${LOOPBACK} PTR localhost`]],
    ['home.arpa', 'A', []],
    ['home.arpa', 'NS', ['home.arpa NS home.arpa']],
    ['resolver.arpa', 'NS', ['resolver.arpa NS resolver.arpa']],
    ['resolver.arpa', 'A', []],
    ['_dns.resolver.arpa', 'SVCB', []],
    ['router.home.arpa', 'A', ['router.home.arpa A 192.0.2.1']],
    ['printer.local', 'A', ['printer.local A 192.0.2.2']],
  ] as const)('give a local NOERROR answer: %s %s', (name, type, answers) => {
    expect(ask(pipeline, name, type)).toMatchObject({ rcode: 'NOERROR', status: 'LOCAL', answers });
  });

  test.each(['a.test', 'invalid', 'x.invalid', 'abc.onion', 'tv.local', 'x.home.arpa', 'x.resolver.arpa'])(
    'are NXDOMAIN without a local record: %s',
    (name) => expect(ask(pipeline, name)).toMatchObject({ rcode: 'NXDOMAIN', status: 'LOCAL' }),
  );

  test.each([
    'notlocalhost.example',
    'local.example',
    'xlocal.example.org',
    'arpa.example',
    'e164.arpa',
    'mylocalhost.com',
  ])('do not include %s, which is forwarded', (name) =>
    expect(ask(pipeline, name).result).toBe('unresolved'),
  );

  test('are forwarded if special names are disabled; DS of home.arpa is always forwarded', () => {
    expect(ask(withFlags(0), 'a.test').result).toBe('unresolved');
    expect(ask(withFlags(0), 'localhost').result).toBe('unresolved');
    expect(ask(pipeline, 'home.arpa', 'DS').result).toBe('unresolved');
  });
});

describe('canary names of browsers and Private Relay', () => {
  test('are NXDOMAIN if their setting is enabled', () => {
    const doh = withFlags(DOH_CANARY);
    expect(ask(doh, 'use-application-dns.net').rcode).toBe('NXDOMAIN');
    expect(ask(doh, 'mask.icloud.com').result).toBe('unresolved');
    const relay = withFlags(PRIVATE_RELAY_CANARY);
    for (const name of ['mask.icloud.com', 'mask-h2.icloud.com'])
      expect(ask(relay, name).rcode).toBe('NXDOMAIN');
    for (const name of ['use-application-dns.net', 'x.mask.icloud.com', 'icloud.com'])
      expect(ask(relay, name).result).toBe('unresolved');
  });
});
