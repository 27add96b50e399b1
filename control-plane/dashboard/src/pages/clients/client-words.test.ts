import { describe, expect, test } from '@jest/globals';
import { changedFields, draftOf } from './client-words.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import type { Client } from './client-words.ts';

const client: Client = {
  id: 7,
  ip_address: '192.0.2.7',
  mac_address: '02:00:5e:10:00:01',
  vendor: null,
  private_address: true,
  client_key: null,
  hostname: null,
  name: null,
  group_id: 2,
  group_source: 'mac',
  first_seen: null,
  last_seen: null,
  query_count: 0,
  exclude_from_log: false,
  exclude_from_stats: true,
  is_new: false,
  merged_into: null,
  merged: [],
};

describe('nameOf(), the display name of a client,', () => {
  test('is the first that is known of its name, host name, IP address and MAC address', () => {
    expect(nameOf(client)).toBe('192.0.2.7');
    expect(nameOf({ ...client, hostname: 'tv.home.arpa' })).toBe('tv.home.arpa');
    expect(nameOf({ ...client, hostname: 'tv.home.arpa', name: 'TV' })).toBe('TV');
    expect(nameOf({ ...client, ip_address: null })).toBe('02:00:5e:10:00:01');
  });
});

describe('changedFields(), the fields sent when a client is edited,', () => {
  test('omits unchanged fields, so that concurrent changes of other users are kept', () => {
    const before = draftOf(client);
    expect(changedFields(before, before)).toEqual({});
    expect(changedFields(before, { ...before, name: ' TV ' })).toEqual({ name: 'TV' });
  });

  test('contains null for fields that the user emptied', () => {
    const before = draftOf(client);
    expect(changedFields(before, { ...before, mac_address: '', group_id: '' })).toEqual({
      mac_address: null,
      group_id: null,
    });
  });

  test('includes the exclusions from the log and from statistics', () => {
    const before = draftOf(client);
    expect(changedFields(before, { ...before, exclude_from_log: true })).toEqual({ exclude_from_log: true });
    expect(changedFields(before, { ...before, exclude_from_stats: false })).toEqual({
      exclude_from_stats: false,
    });
  });

  test('omits a group that a client gets from its network', () => {
    expect(draftOf({ ...client, group_source: 'subnet' }).group_id).toBe('');
    const before = draftOf(null);
    expect(changedFields(before, { ...before, group_id: '3' })).toEqual({ group_id: 3 });
  });
});
