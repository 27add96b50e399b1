import { describe, expect, test } from '@jest/globals';
import type { BackupItems } from './backup-items.ts';
import type { Item, KindName } from './backup-kind.ts';
import { mergeItems, type MergedKind } from './merge-items.ts';

const group = (name: string, more: Item = {}): Item => ({
  ...{ name, enabled: true, comment: '', no_ipv6: false, is_default: false },
  ...more,
});
const DEFAULT = group('Default', { is_default: true });
const domain = (name: string, more: Item = {}): Item => ({
  ...{ name, domain: name, action: 'deny', group: null, comment: '', enabled: true },
  ...more,
});
const client = (more: Item): Item => ({
  ...{ ip_address: null, mac_address: null, client_key: null, name: null, group: null },
  ...more,
});
const source = (more: Item): Item => ({
  ...{ kind: 'block', name: 'ads', url: 'https://lists.example.org/ads', enabled: true, comment: '' },
  ...{ subdomains: false, text: null, groups: [] },
  ...more,
});

/** The changes by kind, and the outcomes for the objects of one kind. */
function merge(
  current: Partial<Record<KindName, readonly Item[]>>,
  added: Partial<Record<MergedKind, readonly Item[]>>,
) {
  const { changes, things } = mergeItems(
    new Map(Object.entries({ groups: [DEFAULT], ...current })) as BackupItems,
    new Map(Object.entries(added)) as ReadonlyMap<MergedKind, readonly Item[]>,
  );
  const shown = changes.map(({ kind, created, changed, removed }) => [
    kind.name,
    { created, changed, removed },
  ]);
  return {
    changes: Object.fromEntries(shown) as Record<string, unknown>,
    outcomesOf: (kind: MergedKind) => things.get(kind)!.map(({ outcome }) => outcome),
  };
}

describe('mergeItems()', () => {
  test('creates missing objects, and deletes none', () => {
    const { changes, outcomesOf } = merge(
      { managed_domains: [domain('a.example')] },
      { managed_domains: [domain('b.example')] },
    );
    expect(changes).toEqual({
      managed_domains: { created: [domain('b.example')], changed: [], removed: [] },
    });
    expect(outcomesOf('managed_domains')).toEqual(['created']);
  });

  test('keeps existing names, and keeps an existing value if the added object has an empty one', () => {
    const before = {
      managed_domains: [domain('a.example', { name: 'mine', comment: 'kept' })],
      client_subnets: [{ subnet_cidr: '192.0.2.0/24', group: 'Default', comment: 'kept' }],
      list_sources: [source({ name: 'mine', url: 'text:own', text: 'a.example', comment: 'kept' })],
      local_records: [
        { hostname: 'a.b', domain: 'lan', fqdn: 'a.b.lan', record_type: 'A', value: '192.0.2.1', ttl: 9 },
      ],
    };
    const added = {
      managed_domains: [domain('a.example', { enabled: false })],
      client_subnets: [{ subnet_cidr: '192.0.2.0/24', group: 'Default', comment: '' }],
      list_sources: [source({ url: 'text:own', enabled: false })],
      local_records: [
        { hostname: 'a', domain: 'b.lan', fqdn: 'a.b.lan', record_type: 'A', value: '192.0.2.1', ttl: 60 },
      ],
    };
    const { changes, outcomesOf } = merge(before, added);
    expect(changes).toEqual({
      managed_domains: expect.objectContaining({
        changed: [{ ...before.managed_domains[0], enabled: false }],
      }),
      list_sources: expect.objectContaining({ changed: [{ ...before.list_sources[0], enabled: false }] }),
      local_records: expect.objectContaining({ changed: [{ ...before.local_records[0], ttl: 60 }] }),
    });
    expect(outcomesOf('client_subnets')).toEqual(['same']);
  });

  test('maps the default group of the file to the local one, which does not change, whatever their names', () => {
    const current = { groups: [group('Everyone', { is_default: true }), group('Default'), group('Kids')] };
    const added = {
      groups: [DEFAULT, group('kids', { comment: 'small' }), group('everyone', { enabled: false })],
      managed_domains: ['Default', 'kids', 'everyone'].map((of) => domain('a.example', { group: of })),
      list_sources: [source({ groups: ['kids', 'Default', 'everyone'] })],
    };
    const { changes, outcomesOf } = merge(current, added);
    expect(outcomesOf('groups')).toEqual(['same', 'changed', 'same']);
    expect(outcomesOf('managed_domains')).toEqual(['created', 'created', 'same']);
    expect(changes).toMatchObject({
      groups: { created: [], changed: [group('Kids', { comment: 'small' })] },
      managed_domains: { created: [{ group: 'Everyone' }, { group: 'Kids' }] },
      list_sources: { created: [{ groups: ['Everyone', 'Kids'] }] },
    });
  });

  test('finds an existing client by its key, whatever its other identifiers', () => {
    const phone = client({ mac_address: '02:00:5e:00:00:01', client_key: 'phone', name: 'Phone' });
    const added = [
      client({ client_key: 'phone', group: 'Default' }),
      client({ mac_address: '02:00:5e:00:00:01', name: 'Mobile' }),
      client({ client_key: 'tablet' }),
    ];
    const { changes, outcomesOf } = merge({ clients: [phone] }, { clients: added });
    expect(outcomesOf('clients')).toEqual(['changed', 'changed', 'created']);
    expect(changes).toMatchObject({
      clients: { created: [added[2]], changed: [{ ...phone, name: 'Mobile', group: 'Default' }] },
    });
  });

  test('adds exclusions of clients, and removes none', () => {
    const excluded = client({ ip_address: '192.0.2.8', exclude_from_log: true, exclude_from_stats: false });
    const added = { ...excluded, exclude_from_log: false, exclude_from_stats: true };
    expect(merge({ clients: [excluded] }, { clients: [added] }).changes).toMatchObject({
      clients: { changed: [{ ...excluded, exclude_from_stats: true }] },
    });
  });

  test('changes the mode of YouTube, and ignores the mode for other engines', () => {
    const engine = (name: string, mode: string): Item => ({
      ...{ group: 'Default', engine: name, enabled: true, youtube_mode: mode },
    });
    const { outcomesOf } = merge(
      { safe_search: [engine('google', 'moderate'), engine('youtube', 'moderate')] },
      { safe_search: [engine('google', 'strict'), engine('youtube', 'strict')] },
    );
    expect(outcomesOf('safe_search')).toEqual(['same', 'changed']);
  });

  test('disables IPv6 for Default if the default group of the file does, and changes nothing else in Default', () => {
    const wish = group('Other name', { is_default: true, no_ipv6: true, comment: 'imported' });
    const { changes, outcomesOf } = merge({}, { groups: [wish] });
    expect(changes['groups']).toMatchObject({ created: [], changed: [{ ...DEFAULT, no_ipv6: true }] });
    expect(outcomesOf('groups')).toEqual(['changed']);
    const without = group('Kids', { no_ipv6: true });
    expect(merge({ groups: [DEFAULT, without] }, { groups: [group('Kids')] }).changes).toEqual({});
  });
});
