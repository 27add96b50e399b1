import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapAdguard } from './map-adguard.ts';
import { readAdguard } from './read-adguard.ts';

const planOf = (text: string) =>
  mapAdguard(readAdguard(new Map([[ONLY_TEXT, Buffer.from(`schema_version: 34\n${text}`)]])));
const OWN = 'use_global_settings: false, use_global_blocked_services: true';

describe('mapAdguardClients()', () => {
  test('creates one group for clients with the same individual settings', () => {
    const { document } = planOf(
      `user_rules: ['||x.example^']\nclients:\n  persistent:\n` +
        `    - {name: A, ids: [192.0.2.1], ${OWN}, filtering_enabled: false}\n` +
        `    - {name: B, ids: [192.0.2.2], ${OWN}, filtering_enabled: false}\n` +
        `    - {name: C, ids: [192.0.2.3], ${OWN}, filtering_enabled: true}\n`,
    );
    const { groups, clients, list_sources: sources } = document;
    expect(groups.map(({ name }) => name)).toEqual(['Default', 'AdGuard Home: A']);
    expect(clients.map(({ group }) => group)).toEqual(['AdGuard Home: A', 'AdGuard Home: A', 'Default']);
    expect(sources).toMatchObject([{ groups: ['Default'], enabled: true }]);
  });

  test('maps ClientIDs to client keys, also in the rules of clients, and reports other identifiers', () => {
    const { document, items } = planOf(
      `user_rules: ['||x.example^$client=Phone']\nclients:\n  persistent:\n` +
        `    - {name: Phone, ids: [My-Phone, 192.0.2.1, my-phone, 'no id', a.b], ${OWN}}\n`,
    );
    expect(document.clients).toMatchObject([
      { mac_address: null, ip_address: null, client_key: 'my-phone', name: 'Phone', group: 'Default' },
      { mac_address: null, ip_address: '192.0.2.1', client_key: null, name: 'Phone' },
    ]);
    const refused = items.filter(({ result }) => result === 'not_mapped').map(({ name }) => name);
    expect(refused).toEqual(['Phone: no id', 'Phone: a.b']);
    expect(document.list_sources[0]!.text).toContain('||x.example^$client=my-phone|192.0.2.1|my-phone\n');
  });

  test('keeps the rules and lists of a disabled filter as disabled', () => {
    const { list_sources: sources } = planOf(
      "filtering: {filtering_enabled: false}\nuser_rules: ['||x.example^', '0.0.0.0 y.example', 'z$dnstype=A']\n" +
        'filters: [{id: 1, url: https://lists.example.org/a, enabled: true}]\n',
    ).document;
    expect(sources[0]).toMatchObject({ enabled: false, groups: [] });
    expect(sources[1]!.text).toContain('! ||x.example^\n! 0.0.0.0 y.example\n! z$dnstype=A\n');
  });

  test('reports thousands of rules as one item', () => {
    const rules = Array.from({ length: 2001 }, (_, n) => `'||a${n}.example^'`);
    const { items, document } = planOf(`user_rules: [${rules.join(', ')}]\n`);
    expect([items.length, document.list_sources[0]!.text!.split('\n').length]).toEqual([1, 2003]);
  });

  test('applies rules to every group if all clients are filtered', () => {
    expect(planOf("user_rules: ['||x.example^']\n").document.list_sources).toMatchObject([{ groups: [] }]);
  });
});
