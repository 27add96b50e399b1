import { describe, expect, test } from '@jest/globals';
import { compiledFrom } from '../../../../test/support/parts/test-rules.ts';
import { apiRecord } from '../../../../test/support/parts/asked-pipeline.ts';
import { readLocalRecordLine } from '../../../../shared/policy/local-record.ts';
import { type LeaseName, NOTHING_LIVE } from '../../change/runtime-state.ts';
import { NO_POLICY_ROWS } from '../../change/rows.ts';
import { isSameForLocalNames, localRecords } from './snapshot-records.ts';

const written = (line: string) => {
  const record = readLocalRecordLine(line);
  if (typeof record === 'string') throw new Error(`read record ${line}: expected ${record}`);
  return record;
};

interface Sources {
  config?: string[];
  api?: string[];
  leases?: LeaseName[];
}

/** `source name type value ttl` of each record. */
function recordsOf({ config = [], api = [], leases = [] }: Sources): string[] {
  const live = { configRecords: config.map(written), leases };
  return localRecords({ localRecords: api.map(apiRecord) }, live).map(
    ({ source, id, fqdn, type, value, ttlSecs }) => `${source} ${id} ${fqdn} ${type} ${value} ${ttlSecs}`,
  );
}

describe('localRecords()', () => {
  test('returns records of the configuration, the API and DHCP leases, and then reverse names', () => {
    const all = recordsOf({
      config: ['a.home A 192.0.2.1'],
      api: ['b.home AAAA 2001:db8::2'],
      leases: [{ fqdn: 'c.home', address: '192.0.2.3' }],
    });
    expect(all.map((line) => line.split(' ').slice(0, 4).join(' '))).toEqual([
      'config 0 a.home A',
      'api 1 b.home AAAA',
      'dhcp 0 c.home A',
      'config 0 1.2.0.192.in-addr.arpa PTR',
      `api 1 2.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa PTR`,
      'dhcp 0 3.2.0.192.in-addr.arpa PTR',
    ]);
    expect(all[2]).toMatch(/ 60$/);
    expect(all[3]).toMatch(/PTR a\.home /);
  });

  test('ignores leases for names with manual records, and leases with an invalid name or address', () => {
    const leases = [
      { fqdn: 'a.home', address: '192.0.2.9' },
      { fqdn: 'b.home', address: '192.0.2.9' },
      { fqdn: 'not a name', address: '192.0.2.9' },
      { fqdn: 'c.home', address: 'nowhere' },
      { fqdn: 'd.home', address: '2001:db8::4' },
    ];
    const forward = recordsOf({ config: ['a.home A 192.0.2.1'], api: ['b.home TXT "x"'], leases }).filter(
      (line) => !line.includes('PTR'),
    );
    expect(forward.filter((line) => line.startsWith('dhcp'))).toEqual(['dhcp 0 d.home AAAA 2001:db8::4 60']);
  });

  test('creates one reverse name per address, for the first name, unless there is a manual reverse name', () => {
    const reverse = (lines: string[]): string[] =>
      recordsOf({ config: lines })
        .filter((line) => line.includes(' PTR '))
        .map((line) => line.split(' ').slice(2, 5).join(' '));
    expect(reverse(['a.home A 192.0.2.1', 'b.home A 192.0.2.1'])).toEqual([
      '1.2.0.192.in-addr.arpa PTR a.home',
    ]);
    expect(reverse(['a.home A 192.0.2.1', '1.2.0.192.in-addr.arpa PTR own.home'])).toEqual([
      '1.2.0.192.in-addr.arpa PTR own.home',
    ]);
    expect(reverse(['*.home A 192.0.2.1', 'a.home TXT "192.0.2.1"'])).toEqual([]);
  });
});

describe('isSameForLocalNames()', () => {
  const compiled = compiledFrom([]);
  const lease = { fqdn: 'c.home', address: '192.0.2.3' };
  const causes = (change: Sources & { seed?: number } = {}) => ({
    compiled: change.seed === undefined ? compiled : compiledFrom([], change.seed),
    rows: { ...NO_POLICY_ROWS, localRecords: (change.api ?? ['b.home A 192.0.2.2']).map(apiRecord) },
    live: {
      ...NOTHING_LIVE,
      configRecords: (change.config ?? ['a.home A 192.0.2.1']).map(written),
      leases: change.leases ?? [lease],
    },
  });

  test('is true for equal rows that were read again', () => {
    expect(isSameForLocalNames(causes(), causes())).toBe(true);
    expect(isSameForLocalNames(causes({ leases: [] }), causes({ leases: [] }))).toBe(true);
  });

  test.each<[string, Sources & { seed?: number }]>([
    ['a different hash seed', { seed: 2 }],
    ['a changed record of the API', { api: ['b.home A 192.0.2.9'] }],
    ['a deleted record of the API', { api: [] }],
    ['one more record of the API', { api: ['b.home A 192.0.2.2', 'b.home A 192.0.2.3'] }],
    ['a changed record of the configuration', { config: ['x.home A 192.0.2.1'] }],
    ['a changed lease', { leases: [{ ...lease, address: '192.0.2.4' }] }],
    ['a lease that ended', { leases: [] }],
    ['one more lease', { leases: [lease, { ...lease, fqdn: 'd.home' }] }],
  ])('detects %s', (_what, change) => {
    expect(isSameForLocalNames(causes(), causes(change))).toBe(false);
    expect(isSameForLocalNames(causes(change), causes())).toBe(false);
  });
});
