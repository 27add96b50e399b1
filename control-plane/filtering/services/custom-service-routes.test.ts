/** Custom services over HTTP. */
import { describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { customServiceRoutes } from './custom-service-routes.ts';
import { ServiceCatalog } from './service-catalog.ts';
import { serviceRoutes } from './service-routes.ts';
import {
  BlockedServiceList,
  CatalogService,
  CustomService,
  CustomServiceList,
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
];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const get = async (path: string): Promise<unknown> => (await api.send('GET', `/api${path}`)).body;
const block = (json: unknown): Promise<TestAnswer> => api.send('POST', '/api/services', { json });
const define = (json: unknown, path = '/api/services/custom'): Promise<TestAnswer> =>
  api.send('POST', path, { json });

describe('custom services over the API', () => {
  test('are created, shown in the catalog, blocked, changed and deleted', async () => {
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

  test('accept a category by its name, and get unique IDs', async () => {
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
  ])('refuse an invalid field (%#)', async (json, path) => {
    const answer = await define(json);
    expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, path]);
  });

  test('accept domains in any letter case, with a final dot and in Unicode, and remove duplicates', async () => {
    const domains = ['B\u00dcCHER.example.', 'xn--bcher-kva.example', 'Plain.Example'];
    const answer = await define({ name: 'forms', category: 'adult', domains });
    expect(CustomService.parse(answer.body).domains).toEqual(['xn--bcher-kva.example', 'plain.example']);
  });

  test('accept 10,000 long domains', async () => {
    const domains = Array.from(
      { length: 10_000 },
      (_, index) => `n${index}.${'a'.repeat(60)}.${'b'.repeat(60)}.example`,
    );
    expect((await define({ name: 'big', category: 'adult', domains })).status).toBe(201);
  });
});
