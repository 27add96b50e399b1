import { beforeEach, expect, test } from '@jest/globals';
import { ClientServiceList } from '../../../shared/api/policy/services-api.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { clientRoutes } from '../../clients/devices/client-routes.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { clientServiceRoutes } from './client-service-routes.ts';

const KIDS = 2;
const blocked = (serviceName: string, groupId: number): PolicyRows['blockedServices'][number] => ({
  ...{ serviceId: serviceName.toLowerCase(), serviceName, groupId, domains: [], exact: [] },
});
let isKidsEnabled = true;
const rows = (): Pick<PolicyRows, 'groups' | 'blockedServices'> => ({
  groups: [
    { id: 1, enabled: true },
    { id: KIDS, enabled: isKidsEnabled },
  ],
  blockedServices: [blocked('Tube', KIDS), blocked('Chat', KIDS), blocked('Ads', 1)],
});

let api: RunningApi;
serveSuite(
  (parts) => [
    ...clientServiceRoutes({ ...parts, policyRows: rows }),
    ...clientRoutes({ ...parts, stats: { addressCounts: () => Promise.resolve([]) } }),
  ],
  (served) => {
    api = served.api;
  },
);
let suiteIds: number[] = [];
beforeEach(async () => {
  isKidsEnabled = true;
  await api.parts.database.query(
    `INSERT INTO groups (id, name) VALUES (${KIDS}, 'Kids') ON CONFLICT DO NOTHING`,
  );
  suiteIds = [];
  for (const json of [{ ip_address: '192.0.2.7', group_id: KIDS }, { ip_address: '192.0.2.8' }])
    suiteIds.push(((await api.send('POST', '/api/clients', { json })).body as { id: number }).id);
});

const shown = async (id: number): Promise<string[]> =>
  ClientServiceList.parse((await api.send('GET', `/api/clients/${id}/services`)).body).map(
    ({ name }) => name,
  );

test('the services that are blocked for the group of a client are listed by name', async () => {
  const [tablet, other] = suiteIds as [number, number];
  expect([await shown(tablet), await shown(other)]).toEqual([['Chat', 'Tube'], ['Ads']]);
  expect((await api.send('GET', '/api/clients/4711/services')).status).toBe(404);
});

test('a client of a disabled group has the blocked services of Default', async () => {
  isKidsEnabled = false;
  expect(await shown(suiteIds[0]!)).toEqual(['Ads']);
});
