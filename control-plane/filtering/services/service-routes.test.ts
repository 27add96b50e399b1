/** The service catalog and blocks of services over HTTP. */
import { describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import type { FindService } from '../../policy/change/policy-memory.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { scheduleRoutes } from '../schedules/schedule-routes.ts';
import { customServiceRoutes } from './custom-service-routes.ts';
import { ServiceCatalog } from './service-catalog.ts';
import { serviceRoutes } from './service-routes.ts';
import { readBlockedIds } from './service-store.ts';
import {
  BlockedService,
  BlockedServiceList,
  CatalogService,
  CatalogServiceList,
  CATEGORY_NAMES,
  CategoryList,
} from '../../../shared/api/policy/services-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

const catalog = new ServiceCatalog(tmpdir());

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [
  ...serviceRoutes({ ...parts, catalog }),
  ...customServiceRoutes(parts),
  ...groupRoutes(parts),
  ...scheduleRoutes(parts),
];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const findService: FindService = (id) => {
  const service = catalog.get(id);
  return service && { serviceName: service.name, domains: service.domains, exact: service.exact_domains };
};
const get = async (path: string): Promise<unknown> => (await api.send('GET', `/api${path}`)).body;
const block = (json: unknown): Promise<TestAnswer> => api.send('POST', '/api/services', { json });

describe('the service catalog over the API', () => {
  test('contains hundreds of services, in each of the seven categories', async () => {
    const services = CatalogServiceList.parse(await get('/services/catalog'));
    expect(services.length).toBeGreaterThan(1000);
    expect(new Set(services.map(({ category }) => category))).toEqual(new Set(Object.keys(CATEGORY_NAMES)));
    expect(services.every(({ is_custom: isCustom }) => !isCustom)).toBe(true);
    expect(CategoryList.parse(await get('/services/categories'))).toHaveLength(7);
  });

  test('returns a service with its domains, and 404 for an unknown service', async () => {
    expect(CatalogService.parse(await get('/services/catalog/netflix'))).toMatchObject({
      name: 'Netflix',
      category: 'video_streaming',
      category_name: 'Video Streaming',
      domains: expect.arrayContaining(['netflix.com']),
    });
    expect((await api.send('GET', '/api/services/catalog/nothing')).status).toBe(404);
  });
});

describe('blocked services over the API', () => {
  test('are blocked and unblocked for a group, active immediately', async () => {
    const before = api.policyChanges;
    const answer = await block({ service_id: 'netflix', group_id: 1 });
    expect(answer.status).toBe(201);
    const blocked = BlockedService.parse(answer.body);
    expect(blocked).toMatchObject({ service_id: 'netflix', group_id: 1 });
    expect(BlockedServiceList.parse(await get('/services'))).toEqual([blocked]);
    expect(await get('/services?group_id=1')).toEqual([blocked]);
    expect(await get('/services?group_id=2')).toEqual([]);
    const { blockedServices } = await readPolicyRows(suite.database, findService);
    expect(blockedServices).toMatchObject([{ serviceId: 'netflix', serviceName: 'Netflix', groupId: 1 }]);
    expect(blockedServices[0]!.domains).toContain('netflix.com');
    expect(await readBlockedIds(suite.database)).toEqual(new Set(['netflix']));
    expect((await block({ service_id: 'netflix', group_id: 1 })).status).toBe(409);
    const path = '/api/services/netflix/groups/1';
    expect((await api.send('DELETE', path)).status).toBe(204);
    expect((await api.send('DELETE', path)).status).toBe(404);
    expect(api.policyChanges - before).toBe(2);
  });

  test.each([
    [{ service_id: 'nothing', group_id: 1 }, 400],
    [{ service_id: 'netflix', group_id: 4711 }, 400],
    [{ service_id: 'netflix' }, 400],
    [{ service_id: 5, group_id: 1 }, 400],
    [{ service_id: 'netflix', group_id: 1, extra: true }, 400],
  ])('with the body %j return status %d', async (json, status) =>
    expect((await block(json)).status).toBe(status),
  );

  test('are blocked at the times of a schedule profile, and unblocked when the profile is deleted', async () => {
    const profile = await api.send('POST', '/api/schedule-profiles', {
      json: { name: 'Night', timezone: 'UTC' },
    });
    const { id } = profile.body as { id: number };
    const slot = { days: 127, start_time: '21:00', end_time: '06:30', action: 'block_all' };
    const addSlot = (): Promise<TestAnswer> =>
      api.send('POST', `/api/schedule-profiles/${id}/slots`, { json: slot });
    const times = async (): Promise<unknown> =>
      (await readPolicyRows(suite.database, findService)).blockedServices.map((row) => row.times);
    await addSlot();
    const answer = await block({ service_id: 'netflix', group_id: 1, profile_id: id });
    expect(BlockedService.parse(answer.body).profile_id).toBe(id);
    const night = { days: 127, start: 1260, end: 390, action: 'block_all', skipsDaysOff: false };
    expect(await times()).toEqual([{ timezone: 'UTC', slots: [night], daysOff: [] }]);
    const path = '/api/services/netflix/groups/1';
    const always = await api.send('PUT', path, { json: { profile_id: null } });
    expect(BlockedService.parse(always.body).profile_id).toBeNull();
    expect(await times()).toEqual([null]);
    expect((await api.send('PUT', path, { json: { profile_id: 4711 } })).status).toBe(400);
    expect((await api.send('PUT', path, { json: {} })).status).toBe(400);
    const other = '/api/services/tiktok/groups/1';
    expect((await api.send('PUT', other, { json: { profile_id: id } })).status).toBe(404);
    expect((await block({ service_id: 'tiktok', group_id: 1, profile_id: 4711 })).status).toBe(400);
    await api.send('PUT', path, { json: { profile_id: id } });
    expect((await api.send('DELETE', `/api/schedule-profiles/${id}`)).status).toBe(204);
    expect(await get('/services')).toEqual([]);
  });

  test('are deleted with their group', async () => {
    const group = await api.send('POST', '/api/groups', { json: { name: 'kids' } });
    const { id } = group.body as { id: number };
    await block({ service_id: 'netflix', group_id: id });
    expect((await api.send('DELETE', `/api/groups/${id}`)).status).toBe(204);
    expect(await get('/services')).toEqual([]);
  });
});
