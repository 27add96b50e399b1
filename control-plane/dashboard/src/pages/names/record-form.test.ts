import { describe, expect, test } from '@jest/globals';
import { bodyOfRecord, fieldsOfRecord, fittingRecords, isRecordReady, serversOf } from './record-form.ts';
import type { LocalRecord } from './record-form.ts';

const record = (changed: Partial<LocalRecord>): LocalRecord => ({
  id: 1,
  hostname: 'nas',
  domain: 'home.arpa',
  fqdn: 'nas.home.arpa',
  record_type: 'A',
  value: '192.0.2.5',
  ip: '192.0.2.5',
  ttl: 300,
  comment: '',
  source: 'api',
  created_at: null,
  updated_at: null,
  ...changed,
});

describe('bodyOfRecord(), the request to add a local record,', () => {
  const fields = { ...fieldsOfRecord(null), value: ' 192.0.2.5 ' };

  test('contains a full name unchanged, and a single label as a host of the local domain', () => {
    expect(bodyOfRecord({ ...fields, fqdn: 'nas.home.arpa' })).toEqual({
      fqdn: 'nas.home.arpa',
      value: '192.0.2.5',
      ttl: 300,
      comment: '',
    });
    expect(bodyOfRecord({ ...fields, fqdn: 'nas' })).toHaveProperty('hostname', 'nas');
    expect(bodyOfRecord({ ...fields, fqdn: '2001:db8::1', type: 'PTR' })).toMatchObject({
      fqdn: '2001:db8::1',
      record_type: 'PTR',
    });
  });
});

describe('isRecordReady(), whether the form of a local record is complete,', () => {
  test('is true only with a name, a value and an integer number of seconds', () => {
    const fields = { ...fieldsOfRecord(record({})) };
    expect(isRecordReady(fields)).toBe(true);
    expect(isRecordReady({ ...fields, ttl: '1e3' })).toBe(false);
    expect(isRecordReady({ ...fields, value: ' ' })).toBe(false);
    expect(isRecordReady({ ...fields, fqdn: '' })).toBe(false);
  });
});

describe('fittingRecords(), the records that match the filters,', () => {
  const records = [
    record({ id: 1 }),
    record({ id: 2, fqdn: 'a.home.arpa', record_type: 'AAAA', value: '2001:db8::5', source: 'dhcp' }),
  ];
  const ids = (filter: Partial<Parameters<typeof fittingRecords>[1]>): (number | null)[] =>
    fittingRecords(records, { search: '', type: '', source: '', ...filter }).map(({ id }) => id);

  test('are sorted by name, and filtered by text, type and source', () => {
    expect(ids({})).toEqual([2, 1]);
    expect(ids({ search: 'DB8' })).toEqual([2]);
    expect(ids({ type: 'A' })).toEqual([1]);
    expect(ids({ source: 'dhcp' })).toEqual([2]);
  });
});

describe('serversOf(), the servers entered for a forward zone,', () => {
  test('are separated by lines and commas', () => {
    expect(serversOf(' 192.0.2.53\ntcp://192.0.2.54:5353, 2001:db8::53 ')).toEqual([
      '192.0.2.53',
      'tcp://192.0.2.54:5353',
      '2001:db8::53',
    ]);
  });
});
