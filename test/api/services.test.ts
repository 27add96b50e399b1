/** The service catalog, blocks of services, and custom services as HTTP sees them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { groupRoutes } from '../../control-plane/groups/group-routes.ts';
import { readPolicyRows } from '../../control-plane/policy/policy-store.ts';
import { customServiceRoutes } from '../../control-plane/services/custom-service-routes.ts';
import { ServiceCatalog } from '../../control-plane/services/service-catalog.ts';
import { serviceRoutes } from '../../control-plane/services/service-routes.ts';
import { readBlockedIds } from '../../control-plane/services/service-store.ts';
import {
  BlockedService,
  BlockedServiceList,
  CatalogService,
  CatalogServiceList,
  CATEGORY_NAMES,
  CategoryList,
  CustomService,
  CustomServiceList,
} from '../../shared/api/policy/services-api.ts';
import { RunningApi } from '../support/parts/running-api.ts';
import type { Rows, TestAnswer } from '../support/parts/running-api.ts';
import { openSuiteDatabase } from '../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../support/parts/suite-database.ts';

const catalog = new ServiceCatalog(tmpdir());

/** Rows of this suite. */
const suiteRoutes: Rows = (parts) => [
  ...serviceRoutes({ ...parts, catalog }),
  ...customServiceRoutes(parts),
  ...groupRoutes(parts),
];

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, suiteRoutes);
});
afterEach(() => suite.reset());
afterAll(async () => {
  await api.close();
  await suite.close();
});

const get = async (path: string): Promise<unknown> => (await api.send('GET', `/api${path}`)).body;
const block = (json: unknown): Promise<TestAnswer> => api.send('POST', '/api/services', { json });
const define = (json: unknown, path = '/api/services/custom'): Promise<TestAnswer> =>
  api.send('POST', path, { json });

describe('service catalog', () => {
  test('holds hundreds of services, in every one of the seven categories', async () => {
    const services = CatalogServiceList.parse(await get('/services/catalog'));
    expect(services.length).toBeGreaterThan(1000);
    expect(new Set(services.map(({ category }) => category))).toEqual(new Set(Object.keys(CATEGORY_NAMES)));
    expect(services.every(({ is_custom: isCustom }) => !isCustom)).toBe(true);
    expect(CategoryList.parse(await get('/services/categories'))).toHaveLength(7);
  });

  test('names one service with its domains, and 404 for others', async () => {
    expect(CatalogService.parse(await get('/services/catalog/netflix'))).toMatchObject({
      name: 'Netflix',
      category: 'video_streaming',
      category_name: 'Video Streaming',
      domains: expect.arrayContaining(['netflix.com']),
    });
    expect((await api.send('GET', '/api/services/catalog/nothing')).status).toBe(404);
  });
});

describe('blocked services', () => {
  test('are blocked and unblocked for a group, in force at once', async () => {
    const before = api.policyChanges;
    const answer = await block({ service_id: 'netflix', group_id: 1 });
    expect(answer.status).toBe(201);
    const blocked = BlockedService.parse(answer.body);
    expect(blocked).toMatchObject({ service_id: 'netflix', group_id: 1 });
    expect(BlockedServiceList.parse(await get('/services'))).toEqual([blocked]);
    expect(await get('/services?group_id=1')).toEqual([blocked]);
    expect(await get('/services?group_id=2')).toEqual([]);
    const { blockedServices } = await readPolicyRows(suite.database, (id) => {
      const service = catalog.get(id);
      return service && { serviceName: service.name, domains: service.domains, exact: service.exact_domains };
    });
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
    [{ service_id: 'nothing', group_id: 1 }, 404],
    [{ service_id: 'netflix', group_id: 4711 }, 404],
    [{ service_id: 'netflix' }, 400],
    [{ service_id: 5, group_id: 1 }, 400],
    [{ service_id: 'netflix', group_id: 1, extra: true }, 400],
  ])('%j is %d', async (json, status) => expect((await block(json)).status).toBe(status));

  test('go away with their group', async () => {
    const group = await api.send('POST', '/api/groups', { json: { name: 'kids' } });
    const { id } = group.body as { id: number };
    await block({ service_id: 'netflix', group_id: id });
    expect((await api.send('DELETE', `/api/groups/${id}`)).status).toBe(204);
    expect(await get('/services')).toEqual([]);
  });
});

describe('custom services', () => {
  test('are defined, shown in the catalog, blocked, changed and deleted', async () => {
    const answer = await define({
      name: 'My Games!',
      category: 'gambling',
      domains: ['*.Games.example', 'bücher.example', 'games.example'],
    });
    expect(answer.status).toBe(201);
    const service = CustomService.parse(answer.body);
    expect(service).toMatchObject({
      service_id: 'custom-my-games',
      category: 'gambling',
      domains: ['games.example', 'xn--bcher-kva.example'],
    });
    expect(CatalogService.parse(await get('/services/catalog/custom-my-games'))).toMatchObject({
      is_custom: true,
      domains: service.domains,
    });
    expect((await block({ service_id: service.service_id, group_id: 1 })).status).toBe(201);
    const path = `/custom-services/${service.service_id}`;
    const changed = await api.send('PATCH', `/api${path}`, { json: { domains: ['new.example'] } });
    expect(CustomService.parse(changed.body)).toMatchObject({ name: 'My Games!', domains: ['new.example'] });
    const { blockedServices } = await readPolicyRows(suite.database, () => undefined);
    expect(blockedServices).toMatchObject([
      { serviceName: 'My Games!', domains: ['new.example'], exact: [] },
    ]);
    const refused = await api.send('DELETE', `/api${path}`);
    expect([refused.status, refused.problem.error]).toEqual([409, 'conflict']);
    expect((await api.send('DELETE', `/api${path}?force=perhaps`)).status).toBe(400);
    expect(BlockedServiceList.parse(await get('/services'))).toHaveLength(1);
    expect((await api.send('DELETE', `/api${path}?force=true`)).status).toBe(204);
    expect((await api.send('GET', `/api${path}`)).status).toBe(404);
    expect((await api.send('PATCH', `/api${path}`, { json: {} })).status).toBe(404);
    expect((await api.send('DELETE', `/api${path}`)).status).toBe(404);
    expect(await get('/services')).toEqual([]);
  });

  test('take a category by its name, and ids of their own', async () => {
    const one = await define(
      { name: 'Ä', category: 'Social Media', domains: ['a.example'] },
      '/api/custom-services',
    );
    const two = await define({ name: '日本', category: 'social_media', domains: ['b.example'] });
    const three = await define({ name: '中国', category: 'social_media', domains: ['b.example'] });
    expect([one, two, three].map(({ body }) => CustomService.parse(body).service_id)).toEqual([
      'custom-a',
      'custom-service',
      'custom-service-2',
    ]);
    expect(CustomServiceList.parse(await get('/custom-services'))).toHaveLength(3);
    expect((await define({ name: '日本', category: 'adult', domains: ['c.example'] })).status).toBe(409);
  });

  test.each([
    [{ category: 'adult', domains: ['a.example'] }, 'name'],
    [{ name: 'x', category: 'games', domains: ['a.example'] }, 'category'],
    [{ name: 'x', category: 'adult', domains: [] }, 'domains'],
    [{ name: 'x', category: 'adult', domains: ['a.example', 'b example'] }, 'domains.1'],
    [{ name: 'x', category: 'adult', domains: ['a..example'] }, 'domains.0'],
    [{ name: 'x', category: 'adult', domains: [`${'a'.repeat(64)}.example`] }, 'domains.0'],
    [{ name: 'x', category: 'adult', domains: Array(10_001).fill('a.example') }, 'domains'],
    [{ name: 'x', category: 'adult', domains: ['a.example'], id: 3 }, 'id'],
  ])('refuse a bad field (%#)', async (json, path) => {
    const answer = await define(json);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });

  test('take domains in any case, with a final dot and in Unicode, each once', async () => {
    const domains = ['B\u00dcCHER.example.', 'xn--bcher-kva.example', 'Plain.Example'];
    const answer = await define({ name: 'forms', category: 'adult', domains });
    expect(CustomService.parse(answer.body).domains).toEqual(['xn--bcher-kva.example', 'plain.example']);
  });

  test('take 10,000 long domains', async () => {
    const domains = Array.from(
      { length: 10_000 },
      (_, index) => `n${index}.${'a'.repeat(60)}.${'b'.repeat(60)}.example`,
    );
    expect((await define({ name: 'big', category: 'adult', domains })).status).toBe(201);
  });
});
