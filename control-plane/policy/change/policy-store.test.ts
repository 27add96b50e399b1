import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestDatabase, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { PolicyMemory } from './policy-memory.ts';
import { readPolicy, readPolicyRows } from './policy-store.ts';
import type { PolicyRows } from './rows.ts';

let own: TestDatabase;

beforeAll(async () => {
  own = await startTestDatabase();
  await own.database.query(`
    INSERT INTO groups (id, name, enabled) VALUES (7, 'kids', true), (8, 'guests', false);
    INSERT INTO list_sources (name, url, enabled) VALUES ('ads', 'https://a.example/', true), ('off', 'https://b.example/', false);
    INSERT INTO list_source_groups (source_id, group_id) VALUES (1, 8), (1, 7);
    INSERT INTO managed_domains (name, domain, action, group_id, enabled)
      VALUES ('wide', '*.a.example', 'deny', 7, true), ('exact', 'b.example', 'allow', NULL, true), ('off', 'c.example', 'deny', NULL, false);
    INSERT INTO regex_filters (name, pattern, action, enabled) VALUES ('on', '^ads', 'deny', true), ('off', '^x', 'deny', false);
    INSERT INTO custom_services (service_id, name, category, domains) VALUES ('custom-mine', 'Mine', 'adult', '{mine.example}');
    INSERT INTO blocked_services (service_id, group_id) VALUES ('tube', 7), ('custom-mine', 8), ('unknown', 7);
    INSERT INTO forward_zones (zone, servers, enabled) VALUES ('corp.example', '{udp://192.0.2.53}', true), ('off.example', '{udp://192.0.2.53}', false);
    INSERT INTO schedule_profiles (name, timezone) VALUES ('night', 'Europe/Berlin'), ('unused', 'UTC');
    INSERT INTO schedule_slots (profile_id, days, start_minute, end_minute, action) VALUES (1, 127, 1320, 360, 'block_all');
    INSERT INTO group_schedules (group_id, profile_id) VALUES (7, 1);
    INSERT INTO clients (ip_address, group_id) VALUES ('192.0.2.7', 7), ('192.0.2.8', NULL);
    INSERT INTO clients (mac_address, group_id) VALUES ('02:00:5e:10:00:01', 8);
    INSERT INTO client_subnets (cidr, group_id) VALUES ('192.0.2.0/24', 8);
    INSERT INTO blocking_switch (enabled, until) VALUES (false, '2026-07-05T12:00:00.250Z')`);
});
afterAll(() => own.stop());

const findTube = (id: string) =>
  id === 'tube' ? { serviceName: 'Tube', domains: ['tube.example'], exact: ['t.example'] } : undefined;

const read = (memory?: PolicyMemory): Promise<PolicyRows> => readPolicyRows(own.database, findTube, memory);

describe('readPolicy()', () => {
  test('returns the rows of the configuration together with the policy', async () => {
    const values = async (): Promise<unknown> => (await readPolicy(own.database, findTube)).config;
    expect(await values()).toEqual({});
    await own.database.query(
      `INSERT INTO config_values (key, value) VALUES ('dns.bootstrap', '["192.0.2.53"]')`,
    );
    expect(await values()).toEqual({ 'dns.bootstrap': ['192.0.2.53'] });
  });
});

describe('readPolicyRows()', () => {
  test('returns enabled rows in the order of their IDs, with the rows that belong to them', async () => {
    const rows = await read();
    expect(rows.groups).toEqual([
      { id: 1, enabled: true, noIpv6: false },
      { id: 7, enabled: true, noIpv6: false },
      { id: 8, enabled: false, noIpv6: false },
    ]);
    // Disabled sources are included, because their rules stay in the table until the next compilation.
    expect(rows.sources).toEqual([
      { id: 1, name: 'ads', kind: 'block', enabled: true, groupIds: [7, 8] },
      { id: 2, name: 'off', kind: 'block', enabled: false, groupIds: [] },
    ]);
    expect(rows.managedDomains).toEqual([
      { id: 1, name: 'wide', domain: 'a.example', suffix: true, action: 'deny', groupId: 7 },
      { id: 2, name: 'exact', domain: 'b.example', suffix: false, action: 'allow', groupId: null },
    ]);
    expect(rows.regexFilters).toEqual([
      { id: 1, name: 'on', pattern: '^ads', action: 'deny', groupId: null },
    ]);
    expect(rows.forwardZones).toEqual([{ zone: 'corp.example', servers: ['udp://192.0.2.53'] }]);
    expect(rows.schedules).toEqual([
      {
        groupId: 7,
        profile: 'night',
        timezone: 'Europe/Berlin',
        slots: [{ days: 127, start: 1320, end: 360, action: 'block_all', skipsDaysOff: false }],
        daysOff: [],
      },
    ]);
  });

  test('returns clients with a group, by address or by MAC, and subnets', async () => {
    const { clients, macClients, subnets } = await read();
    expect(clients).toEqual([{ address: '192.0.2.7', groupId: 7 }]);
    expect(macClients).toEqual([{ mac: '02:00:5e:10:00:01', groupId: 8 }]);
    expect(subnets).toEqual([{ cidr: '192.0.2.0/24', groupId: 8 }]);
  });

  test('returns the domains of catalog and custom services, and leaves out unknown services', async () => {
    const [tube, mine] = (await read()).blockedServices;
    expect(tube).toMatchObject({ serviceId: 'tube', serviceName: 'Tube', groupId: 7, times: null });
    expect([tube!.domains, tube!.exact]).toEqual([['tube.example'], ['t.example']]);
    expect(mine).toMatchObject({ serviceId: 'custom-mine', serviceName: 'Mine', groupId: 8, times: null });
    expect([mine!.domains, mine!.exact]).toEqual([['mine.example'], []]);
  });

  test('returns the blocking switch with its timer in UTC', async () => {
    const { blockingSwitch } = await read();
    expect(blockingSwitch).toMatchObject({ enabled: false, until: '2026-07-05T12:00:00.250Z' });
  });

  test('returns the same objects as before if their tables are unchanged', async () => {
    const memory = new PolicyMemory();
    const before = await read(memory);
    const again = await read(memory);
    for (const name of ['groups', 'sources', 'managedDomains', 'clients', 'schedules'] as const)
      expect(again[name]).toBe(before[name]);
    await own.database.query(
      `INSERT INTO managed_domains (name, domain, action) VALUES ('new', 'n.example', 'deny')`,
    );
    const changed = await read(memory);
    expect(changed.managedDomains).toHaveLength(3);
    expect(changed.regexFilters).toBe(before.regexFilters);
  });

  test('reads only the managed domains that were inserted, updated or deleted, and keeps the unchanged ones', async () => {
    const memory = new PolicyMemory();
    const change = (text: string): Promise<unknown> => own.database.query(text);
    const changed = async (): Promise<PolicyRows['managedDomains']> => (await read(memory)).managedDomains;
    await change(
      `INSERT INTO managed_domains (name, domain, action) VALUES ('first', 'first.example', 'deny')`,
    );
    const before = await changed();
    await change(`INSERT INTO managed_domains (name, domain, action)
      SELECT 'many', 'm' || n || '.example', 'deny' FROM generate_series(1, 300) n`);
    const inserted = await changed();
    expect(inserted).toHaveLength(before.length + 300);
    expect(inserted[0]).toBe(before[0]);
    await change(`UPDATE managed_domains SET domain = '*.other.example' WHERE domain = 'm7.example'`);
    await change(`UPDATE managed_domains SET enabled = false WHERE domain = 'm8.example'`);
    await change(`DELETE FROM managed_domains WHERE domain = 'm9.example'`);
    const after = await changed();
    expect(after[0]).toBe(before[0]);
    expect(after).toEqual((await read()).managedDomains);
    await own.database.transactionAsOwner(async (tx) => {
      await tx.query('TRUNCATE managed_domains');
      await tx.query(
        `INSERT INTO managed_domains (name, domain, action) VALUES ('last', 'last.example', 'deny')`,
      );
    });
    expect((await changed()).map(({ name }) => name)).toEqual(['last']);
    await change('DELETE FROM policy_changes');
    await change(`UPDATE managed_domains SET name = 'renamed'`);
    expect((await changed()).map(({ name }) => name)).toEqual(['renamed']);
  });
});
