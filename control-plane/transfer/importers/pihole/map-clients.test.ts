import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapClients } from './map-clients.ts';
import type { PiholeSettings } from './pihole-settings.ts';

const NOTHING: PiholeSettings = {
  groups: [],
  lists: [],
  domains: [],
  clients: [],
  listLinks: new Map(),
  domainLinks: new Map(),
  clientLinks: new Map(),
  devices: [],
  keys: {},
  systemHosts: [],
  leases: [],
  dnsmasqFiles: [],
  hasTables: true,
};
const group = (id: number, name: string, enabled = true) => ({ id, name, enabled, comment: '' });

describe('mapClients()', () => {
  test('creates one group for each different set of enabled groups, in any order', () => {
    const builder = new PlanBuilder();
    const sets = mapClients(builder, {
      ...NOTHING,
      groups: [group(0, 'Default'), group(1, 'A'), group(2, 'B'), group(3, 'C', false)],
      clients: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((ip, id) => ({
        id,
        ip,
        comment: '',
      })),
      clientLinks: new Map([
        [0, [1, 2]],
        [1, [2, 1, 3]],
        [2, [3]],
        [3, [0, 1]],
      ]),
    });
    const plan = builder.finish('pihole');
    const unfiltered = 'Unfiltered (Pi-hole)';
    const { clients, groups } = plan.document;
    expect(clients.map((client) => client.group)).toEqual(['A + B', 'A + B', unfiltered, 'Default + A']);
    expect(groups.map(({ name }) => name)).toEqual([
      'Default',
      'A',
      'B',
      'C',
      'A + B',
      unfiltered,
      'Default + A',
    ]);
    expect(sets.groupsOf([1])).toHaveLength(3);
    expect(sets.groupsOf([3])).toEqual(['C']);
    expect(sets.groupsOf([7])).toEqual([]);
  });

  test('reports a disabled default group', () => {
    const builder = new PlanBuilder();
    mapClients(builder, { ...NOTHING, groups: [group(0, 'Default', false)] });
    expect(builder.finish('pihole').items).toMatchObject([{ kind: 'group', result: 'not_mapped' }]);
  });

  test('uses a host name only if exactly one device has it', () => {
    const builder = new PlanBuilder();
    const device = (mac: string, name: string) => ({ mac, name, address: '192.0.2.9' });
    mapClients(builder, {
      ...NOTHING,
      clients: ['TV.lan', 'twin', 'none', '192.0.2.0/99'].map((ip, id) => ({ id, ip, comment: '' })),
      devices: [
        device('02:00:5e:00:00:01', 'tv.lan'),
        device('02:00:5e:00:00:02', 'twin'),
        device('02:00:5e:00:00:03', 'twin'),
        device('ip-192.0.2.9', 'none'),
      ],
    });
    const { document, items } = builder.finish('pihole');
    expect(document.clients.map(({ mac_address: mac }) => mac)).toEqual(['02:00:5e:00:00:01']);
    expect(items.filter(({ result }) => result === 'not_mapped')).toHaveLength(3);
  });
});
