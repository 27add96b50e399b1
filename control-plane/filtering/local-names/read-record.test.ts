import { describe, expect, test } from '@jest/globals';
import type { LocalRecordUpdate } from '../../../shared/api/policy/local-records-api.ts';
import { ApiError } from '../../api/api-error.ts';
import { readRecord, splitName } from './read-record.ts';
import type { RecordFields } from './record-store.ts';

const BEFORE: RecordFields = {
  hostname: 'nas',
  domain: 'home.example',
  fqdn: 'nas.home.example',
  record_type: 'A',
  value: '192.0.2.5',
  ttl: 60,
  comment: 'in the cellar',
};
const ALIAS: RecordFields = { ...BEFORE, record_type: 'CNAME', value: 'host.example' };

function read(body: LocalRecordUpdate, before: RecordFields | null = null, localDomain = 'home.example') {
  return readRecord(body, before, localDomain);
}

/** The fields that `readRecord()` rejects, each with the expected form. */
function faultsOf(body: LocalRecordUpdate, before: RecordFields | null = null): string[] {
  try {
    read(body, before);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.status).toBe(400);
    return (error.fields ?? []).map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

/** A new record as one line. */
function lineOf(body: LocalRecordUpdate, localDomain?: string): string {
  const { hostname, domain, fqdn, record_type, value } = read(body, null, localDomain);
  return `${fqdn} (${hostname} in ${domain || 'no domain'}) ${record_type} ${value}`;
}

describe('readRecord() for a new record', () => {
  test('reads all fields; TTL and comment are optional', () => {
    expect(read({ fqdn: 'nas.example', value: '192.0.2.5' })).toEqual({
      hostname: 'nas',
      domain: 'example',
      fqdn: 'nas.example',
      record_type: 'A',
      value: '192.0.2.5',
      ttl: 0,
      comment: '',
    });
    expect(read({ fqdn: 'nas.example', value: '192.0.2.5', ttl: 9, comment: 'x' })).toMatchObject({
      ttl: 9,
      comment: 'x',
    });
  });

  test.each<[LocalRecordUpdate, string]>([
    [{ hostname: 'nas', ip: '192.0.2.5' }, 'nas.home.example (nas in home.example) A 192.0.2.5'],
    [{ hostname: ' NAS. ', ip: '192.0.2.5' }, 'nas.home.example (nas in home.example) A 192.0.2.5'],
    [{ hostname: 'nas', domain: '', ip: '192.0.2.5' }, 'nas (nas in no domain) A 192.0.2.5'],
    [{ hostname: 'nas', domain: ' ', ip: '192.0.2.5' }, 'nas (nas in no domain) A 192.0.2.5'],
    [
      { hostname: 'NAS', domain: 'Example.org.', ip: '192.0.2.5' },
      'nas.example.org (nas in example.org) A 192.0.2.5',
    ],
    [{ hostname: 'a.b', domain: 'example', ip: '192.0.2.5' }, 'a.b.example (a.b in example) A 192.0.2.5'],
    [{ hostname: 'a.b', domain: '', ip: '192.0.2.5' }, 'a.b (a.b in no domain) A 192.0.2.5'],
    [{ hostname: 'nas.example.net', ip: '192.0.2.5' }, 'nas.example.net (nas in example.net) A 192.0.2.5'],
    [
      { hostname: '*', domain: 'lab.example', ip: '192.0.2.5' },
      '*.lab.example (* in lab.example) A 192.0.2.5',
    ],
    [{ fqdn: '*.lab.example', ip: '192.0.2.5' }, '*.lab.example (* in lab.example) A 192.0.2.5'],
    [{ fqdn: 'Nas', ip: '192.0.2.5' }, 'nas (nas in no domain) A 192.0.2.5'],
    [
      { hostname: 'bücher', domain: 'example.org', ip: '192.0.2.5' },
      'xn--bcher-kva.example.org (xn--bcher-kva in example.org) A 192.0.2.5',
    ],
    [
      { hostname: '192.0.2.5', record_type: 'PTR', value: 'nas.example' },
      '5.2.0.192.in-addr.arpa (5 in 2.0.192.in-addr.arpa) PTR nas.example',
    ],
    [
      { fqdn: '192.0.2.5', record_type: 'PTR', value: 'nas.example' },
      '5.2.0.192.in-addr.arpa (5 in 2.0.192.in-addr.arpa) PTR nas.example',
    ],
  ])('joins host name and domain, or uses the fully qualified name: %j', (body, line) => {
    expect(lineOf(body)).toBe(line);
  });

  test('appends no local domain if the configuration has none', () => {
    expect(lineOf({ hostname: 'nas', ip: '192.0.2.5' }, '')).toBe('nas (nas in no domain) A 192.0.2.5');
  });

  test.each<[LocalRecordUpdate, string]>([
    [{ ip: '2001:DB8:0::1' }, 'AAAA 2001:db8::1'],
    [{ value: ' 192.0.2.5 ' }, 'A 192.0.2.5'],
    [{ value: '2001:db8::1' }, 'AAAA 2001:db8::1'],
    [{ record_type: 'CNAME', value: 'Host.Example.' }, 'CNAME host.example'],
    [{ record_type: 'MX', value: '10  Mail.example' }, 'MX 10 mail.example'],
    [{ record_type: 'SRV', value: '1 2 3 h.example' }, 'SRV 1 2 3 h.example'],
    [{ record_type: 'TXT', value: '192.0.2.5' }, 'TXT 192.0.2.5'],
  ])('reads record type and value: %j', (body, record) => {
    expect(lineOf({ fqdn: 'a.example', ...body })).toBe(`a.example (a in example) ${record}`);
  });

  test.each<[LocalRecordUpdate, readonly string[]]>([
    [{ ip: '192.0.2.5' }, ['hostname: expected a name']],
    [{ hostname: ' ', ip: '192.0.2.5' }, ['hostname: expected a name']],
    [{ domain: 'example', ip: '192.0.2.5' }, ['hostname: expected a name']],
    [
      { hostname: 'a b', domain: 'example', ip: '192.0.2.5' },
      ['hostname: expected a domain name, or `*` for all names in the domain'],
    ],
    [{ hostname: 'a', domain: 'exa mple', ip: '192.0.2.5' }, ['domain: expected a domain name']],
    [{ hostname: 'a', domain: '*.example', ip: '192.0.2.5' }, ['domain: expected a domain name']],
    [{ fqdn: 'a..b', ip: '192.0.2.5' }, ['fqdn: expected a domain name']],
    [{ fqdn: 'a.*.example', ip: '192.0.2.5' }, ['fqdn: expected a domain name']],
    [
      { fqdn: 'a.example', hostname: 'a', ip: '192.0.2.5' },
      ['fqdn: expected either fqdn, or hostname and domain'],
    ],
    [
      { fqdn: 'a.example', domain: 'example', ip: '192.0.2.5' },
      ['fqdn: expected either fqdn, or hostname and domain'],
    ],
    [{ fqdn: 'a.example' }, ['value: expected the value of the record']],
    [{ fqdn: 'a.example', record_type: 'A' }, ['value: expected the value of the record']],
    [{ fqdn: 'a.example', ip: '192.0.2.500' }, ['ip: expected an IP address']],
    [
      { fqdn: 'a.example', value: '192.0.2.500' },
      ['record_type: expected a type, because the value is not an address'],
    ],
    [{ fqdn: 'a.example', record_type: 'A', ip: '192.0.2.500' }, ['ip: expected an IPv4 address']],
    [{ fqdn: 'a.example', record_type: 'A', value: '2001:db8::1' }, ['value: expected an IPv4 address']],
    [{ fqdn: 'a.example', record_type: 'AAAA', value: '192.0.2.1' }, ['value: expected an IPv6 address']],
    [{ fqdn: 'a.example', ip: '192.0.2.5', value: '192.0.2.5' }, ['ip: expected either ip or value']],
    [
      { fqdn: 'a.example', record_type: 'TXT', ip: '192.0.2.5' },
      ['ip: expected value instead of ip for a record of type TXT'],
    ],
    [
      { fqdn: 'a.example', record_type: 'MX', value: 'mail.example' },
      ['value: expected a preference and a domain name, such as "10 mail.example.org"'],
    ],
    [
      { fqdn: 'a.example', record_type: 'SRV', value: '1 2 70000 h.example' },
      ['value: expected priority, weight, port and a domain name, such as "0 5 5060 sip.example.org"'],
    ],
    [{ fqdn: 'a.example', record_type: 'CNAME', value: '*.example' }, ['value: expected a domain name']],
    [
      { fqdn: 'a.example', record_type: 'CNAME', value: 'A.example.' },
      ['value: expected a name other than its own'],
    ],
    [
      { fqdn: 'a..b', record_type: 'SRV', value: '1' },
      [
        'fqdn: expected a domain name',
        'value: expected priority, weight, port and a domain name, such as "0 5 5060 sip.example.org"',
      ],
    ],
  ])('names every invalid field: %j', (body, faults) => {
    expect(faultsOf(body)).toEqual(faults);
  });

  test('accepts a record that points to its own name, except a CNAME', () => {
    expect(lineOf({ fqdn: 'a.example', record_type: 'PTR', value: 'a.example' })).toMatch(/PTR a\.example$/);
  });
});

describe('readRecord() for a change', () => {
  test('keeps fields that are absent', () => {
    expect(read({}, BEFORE)).toEqual(BEFORE);
    expect(read({ ttl: 0, comment: '' }, BEFORE)).toEqual({ ...BEFORE, ttl: 0, comment: '' });
  });

  test('changes one part of the name and keeps the other part', () => {
    expect(read({ hostname: 'files' }, BEFORE)).toMatchObject({ fqdn: 'files.home.example' });
    expect(read({ domain: 'example.org' }, BEFORE)).toMatchObject({
      fqdn: 'nas.example.org',
      hostname: 'nas',
    });
    expect(read({ domain: '' }, BEFORE)).toMatchObject({ fqdn: 'nas', domain: '' });
    expect(read({ fqdn: 'a.b.example' }, BEFORE)).toMatchObject({ hostname: 'a', domain: 'b.example' });
  });

  test('allows the change of an IPv4 address to IPv6, but no other implicit change of the record type', () => {
    expect(read({ ip: '2001:db8::5' }, BEFORE)).toMatchObject({ record_type: 'AAAA', value: '2001:db8::5' });
    expect(read({ value: '192.0.2.9' }, { ...BEFORE, record_type: 'AAAA' })).toMatchObject({
      record_type: 'A',
    });
    expect(faultsOf({ value: '192.0.2.9' }, ALIAS)).toEqual(['value: expected a domain name']);
    expect(read({ value: '192.0.2.9' }, { ...ALIAS, record_type: 'TXT' })).toMatchObject({
      record_type: 'TXT',
      value: '192.0.2.9',
    });
    expect(faultsOf({ ip: '192.0.2.9' }, ALIAS)).toContain(
      'ip: expected value instead of ip for a record of type CNAME',
    );
  });

  test('checks the existing value against a new record type', () => {
    expect(faultsOf({ record_type: 'A' }, ALIAS)).toEqual(['value: expected an IPv4 address']);
    expect(read({ record_type: 'TXT' }, ALIAS)).toMatchObject({ record_type: 'TXT', value: 'host.example' });
  });

  test('reports an invalid address as invalid for the record type before the change', () => {
    expect(faultsOf({ ip: '192.0.2.500' }, BEFORE)).toEqual(['ip: expected an IPv4 address']);
    expect(faultsOf({ value: 'nas' }, BEFORE)).toEqual(['value: expected an IPv4 address']);
  });
});

describe('splitName()', () => {
  test.each([
    ['a.b.example', 'a', 'b.example'],
    ['*.example', '*', 'example'],
    ['nas', 'nas', ''],
  ])('splits %s after its first label', (fqdn, hostname, domain) => {
    expect(splitName(fqdn)).toEqual({ hostname, domain, fqdn });
  });
});
