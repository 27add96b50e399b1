import { describe, expect, test } from '@jest/globals';
import {
  CatalogFile,
  CustomServiceCreateBody,
  CustomServiceDeleteQuery,
  RegistryFile,
  ServiceGroupParams,
} from './services-api.ts';

const service = { name: 'Games', category: 'gambling', domains: ['games.example'] };
const fetched = { id: 'games', name: 'Games', category: 'gambling', domains: ['games.example'] };

describe('CustomServiceCreateBody', () => {
  test('stores each domain once, in canonical form and without a wildcard', () => {
    const domains = ['*.Games.example.', 'games.example', 'other.example'];
    expect(CustomServiceCreateBody.parse({ ...service, domains }).domains).toEqual([
      'games.example',
      'other.example',
    ]);
  });

  test('accepts a category by its ID or its name', () => {
    const read = (category: string) =>
      CustomServiceCreateBody.safeParse({ ...service, category }).data?.category;
    expect([read('adult'), read('Adult Content'), read('Adult')]).toEqual(['adult', 'adult', undefined]);
  });

  test.each([[[]], [['not a domain']], [['']]])('rejects the domains %j', (domains) => {
    expect(CustomServiceCreateBody.safeParse({ ...service, domains }).success).toBe(false);
  });
});

describe('CustomServiceDeleteQuery', () => {
  test('has force = false by default', () => {
    const read = (query: object) => CustomServiceDeleteQuery.safeParse(query).data?.force;
    expect([read({}), read({ force: 'false' }), read({ force: 'true' }), read({ force: '1' })]).toEqual([
      false,
      false,
      true,
      undefined,
    ]);
  });
});

describe('ServiceGroupParams', () => {
  test('reads the ID of a service and the ID of a group', () => {
    expect(ServiceGroupParams.parse({ service_id: 'custom-a.b_c', group_id: '7' })).toEqual({
      service_id: 'custom-a.b_c',
      group_id: 7,
    });
    for (const id of ['', '-a', 'A', 'a/b', 'a'.repeat(101)])
      expect(ServiceGroupParams.safeParse({ service_id: id, group_id: '7' }).success).toBe(false);
  });
});

describe('CatalogFile', () => {
  const read = (...services: object[]) => CatalogFile.safeParse({ schema: 1, services }).data?.services;

  test('sets defaults for omitted fields of a service, and removes unknown fields', () => {
    expect(read({ ...fetched, note: 'x', icon: 5 })).toEqual([
      { ...fetched, tags: [], exact: [], icon: null },
    ]);
  });

  test('rejects top-level domains, services without domains, and IDs of custom services', () => {
    expect(read({ ...fetched, domains: ['com'] })).toBeUndefined();
    expect(read({ ...fetched, domains: [] })).toBeUndefined();
    expect(read({ ...fetched, domains: [], exact: ['games.example'] })).toHaveLength(1);
    expect(read({ ...fetched, id: 'custom-games' })).toBeUndefined();
    expect(read()).toBeUndefined();
  });
});

describe('RegistryFile', () => {
  test('reads an entry with an unexpected structure as null, and keeps the other entries', () => {
    const good = { id: 'a', name: 'A', rules: ['||a.example^'] };
    const { blocked_services } = RegistryFile.parse({ blocked_services: [{ id: 5 }, good] });
    expect(blocked_services).toEqual([null, { ...good, group: '', icon_svg: null }]);
  });
});
