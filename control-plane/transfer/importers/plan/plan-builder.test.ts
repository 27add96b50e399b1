import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from './plan-builder.ts';

describe('PlanBuilder', () => {
  test('reports, as items without an equivalent, the values that the schemas refuse', () => {
    const builder = new PlanBuilder();
    const rule = { action: 'deny', groups: null, comment: '', enabled: true } as const;
    builder.rule(
      { ...rule, table: 'managed_domains', text: 'not a name' },
      builder.item('managed_domain', 'a'),
    );
    builder.rule({ ...rule, table: 'regex_filters', text: '(?=x)' }, builder.item('regex_filter', 'b'));
    builder.record({ name: 'x.example', type: 'A', value: '::1' }, builder.item('local_record', 'c'));
    builder.record(
      { name: 'x.example', type: 'CNAME', value: 'X.example.' },
      builder.item('local_record', 'd'),
    );
    builder.zone({ zone: '.', servers: ['192.0.2.1'], enabled: true }, builder.item('forward_zone', 'e'));
    builder.zone({ zone: 'lan', servers: ['quic://x'], enabled: true }, builder.item('forward_zone', 'f'));
    builder.subnet({ cidr: '192.0.2.0/40', group: 'Default', comment: '' }, builder.item('subnet', 'g'));
    builder.setting({ local_domain: '..' }, builder.item('setting', 'h'));
    const { items, document, lists, keys } = builder.finish('pihole');
    expect(items.map(({ result }) => result)).toEqual(Array(8).fill('not_mapped'));
    expect(items.every(({ reason }) => reason !== null)).toBe(true);
    expect(Object.values(document).flat()).toEqual([expect.objectContaining({ is_default: true }), {}]);
    expect([lists, keys]).toEqual([[], []]);
  });

  test('converts objects to the form in which Weir stores them', () => {
    const builder = new PlanBuilder();
    const rule = { table: 'managed_domains', action: 'deny', groups: null, enabled: true } as const;
    builder.rule(
      { ...rule, text: 'B\u00dcCHER.example.', comment: 'a\u0000b' },
      builder.item('managed_domain', 'x'),
    );
    builder.zone(
      { zone: '192.0.2.0/24', servers: ['192.0.2.1', '192.0.2.1'], enabled: true },
      builder.item('forward_zone', 'z'),
    );
    const { document } = builder.finish('pihole');
    expect(document.managed_domains).toMatchObject([{ domain: 'xn--bcher-kva.example', comment: 'a b' }]);
    expect(document.forward_zones).toMatchObject([{ zone: '2.0.192.in-addr.arpa', servers: ['192.0.2.1'] }]);
  });

  test('gives groups unique names, and none of them the name of Default', () => {
    const builder = new PlanBuilder();
    const add = (name: string) =>
      builder.group(name, { enabled: true, comment: '' }, builder.item('group', name));
    expect([add('default'), add('Kids'), add('kids'), add(' \n'), add('x'.repeat(200))]).toEqual([
      'default (2)',
      'Kids',
      'kids (2)',
      'Imported group',
      'x'.repeat(90),
    ]);
  });

  test('merges duplicate sources, zones and clients', () => {
    const builder = new PlanBuilder();
    const source = {
      kind: 'block',
      url: 'https://lists.example.org/a',
      name: 'a',
      comment: '',
      subdomains: false,
    } as const;
    builder.source({ ...source, enabled: false, groups: ['A'] }, builder.item('blocklist', '1'));
    builder.source({ ...source, enabled: true, groups: ['B'] }, builder.item('blocklist', '2'));
    builder.client(
      { mac: '02:00:5E:00:00:01', ip: null, key: null, name: 'tv', group: null },
      builder.item('client', '3'),
    );
    builder.client(
      { mac: '02-00-5e-00-00-01', ip: null, key: null, name: 'set', group: 'A' },
      builder.item('client', '4'),
    );
    builder.zone({ zone: 'lan', servers: ['192.0.2.1'], enabled: true }, builder.item('forward_zone', '5'));
    builder.zone({ zone: 'LAN', servers: ['192.0.2.2'], enabled: true }, builder.item('forward_zone', '6'));
    const { document, origins } = builder.finish('pihole');
    expect(document.list_sources).toMatchObject([{ enabled: true, groups: ['A', 'B'] }]);
    expect(document.clients).toMatchObject([{ mac_address: '02:00:5e:00:00:01', name: 'tv', group: 'A' }]);
    expect([origins.list_sources, origins.clients]).toEqual([[[0, 1]], [[2, 3]]]);
    expect(document.forward_zones).toMatchObject([{ zone: 'lan', servers: ['192.0.2.1', '192.0.2.2'] }]);
  });

  test('neither shows nor stores URLs with credentials', () => {
    const builder = new PlanBuilder();
    const url = 'https://me:secret@lists.example.org/a?token=t0p';
    const item = builder.item('blocklist', url);
    builder.source(
      { kind: 'block', url, name: 'a', comment: '', subdomains: false, enabled: true, groups: null },
      item,
    );
    const plan = builder.finish('pihole');
    expect(plan.document.list_sources).toEqual([]);
    expect(JSON.stringify(plan)).not.toMatch(/secret@|t0p/);
  });
});
