import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CatalogFileService } from '../../../shared/api/policy/services-api.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { ServiceCatalog } from './service-catalog.ts';

const URL = 'https://catalog.example/';
const NOW = new Date(Date.UTC(2026, 6, 5));

let dataDir: string;
let catalog: ServiceCatalog;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-catalog-'));
  catalog = new ServiceCatalog(dataDir);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function service(id: string, change: Partial<CatalogFileService> = {}): CatalogFileService {
  return {
    id,
    name: id,
    category: 'adult',
    tags: [],
    icon: null,
    domains: [`${id}.example`],
    exact: [],
    ...change,
  };
}

function take(
  services: CatalogFileService[],
  { isWhole = true, blocked = [] as string[], now = NOW } = {},
): Promise<void> {
  const fetching = { url: URL, now, blocked: new Set(blocked) };
  return catalog.take(catalog.keep({ isWhole, services, skipped: 0 }, fetching));
}

/** The catalog after the next start. */
async function restarted(url = URL): Promise<ServiceCatalog> {
  const next = new ServiceCatalog(dataDir);
  await next.load(new MemoryLogger(), url);
  return next;
}

describe('ServiceCatalog', () => {
  test('contains the shipped services by name before a catalog was fetched', () => {
    const names = catalog.all().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(100);
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, 'en')));
    expect(catalog.all().every(({ withdrawn_at }) => withdrawn_at === null)).toBe(true);
  });

  test('take() of a complete catalog keeps withdrawn services only if a group blocks them, even across a restart', async () => {
    await take([service('mine')], { blocked: ['netflix'] });
    for (const one of [catalog, await restarted()]) {
      expect(one.all().map(({ id }) => id)).toEqual(['mine', 'netflix']);
      expect(one.get('netflix')).toMatchObject({ withdrawn_at: NOW.toISOString() });
      // Policy still finds services of the included catalog.
      expect([one.get('youtube'), one.find('youtube')?.serviceName]).toEqual([undefined, 'YouTube']);
    }
  });

  test('take() of a partial catalog adds domains to a shipped service with the same name, ignoring punctuation', async () => {
    const disney = catalog.all().find(({ name }) => name === 'Disney+')!;
    const added = service('other-id', {
      name: 'disney PLUS',
      domains: ['new.example'],
      exact: ['e.example'],
    });
    await take([added], { isWhole: false });
    expect(catalog.get(disney.id)).toMatchObject({
      name: 'Disney+',
      category: disney.category,
      domains: [...disney.domains, 'new.example'],
      exact_domains: [...disney.exact_domains, 'e.example'],
    });
    expect(catalog.get('other-id')).toBeUndefined();
  });

  test('take() leaves out unknown services without a category', async () => {
    await take([service('mine', { category: null })], { isWhole: false });
    expect(catalog.get('mine')).toBeUndefined();
  });

  test('take() stores when a service was withdrawn, and restores the service when it is listed again', async () => {
    await take([service('mine'), service('gone')]);
    await take([service('mine')]);
    await take([service('mine')], { now: new Date(NOW.getTime() + 1000) });
    expect(catalog.get('gone')?.withdrawn_at).toBe(NOW.toISOString());
    await take([service('mine'), service('gone')]);
    expect(catalog.get('gone')?.withdrawn_at).toBeNull();
  });

  test('load() without a URL lists the shipped services, and marks fetched ones as withdrawn', async () => {
    await take([service('mine')]);
    const next = await restarted('');
    expect(next.get('netflix')?.withdrawn_at).toBeNull();
    expect(next.get('mine')?.withdrawn_at).toBe(NOW.toISOString());
    expect(next.find('mine')).toEqual({ serviceName: 'mine', domains: ['mine.example'], exact: [] });
  });

  test('load() uses the shipped services if the copy on disk is missing, and also logs a warning if it is damaged', async () => {
    const logger = new MemoryLogger();
    await catalog.load(logger, URL);
    expect(logger.lines).toEqual([]);
    writeFileSync(join(dataDir, 'service-catalog.json'), '{"url": 7}');
    await catalog.load(logger, URL);
    expect(logger.text()).toMatch(/^warn the stored service catalog is damaged/);
    expect(catalog.get('netflix')).toBeDefined();
  });

  test('find() returns undefined for an unknown service', () => {
    expect(catalog.find('nothing')).toBeUndefined();
  });
});
