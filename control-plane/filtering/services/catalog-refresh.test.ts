import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { catalogParts, deleteFetches } from '../../../test/support/parts/shared-catalog.ts';
import { startTestDatabase, type TestDatabase } from '../../../test/support/parts/test-database.ts';
import { within } from '../../../test/support/parts/until.ts';
import { CatalogRefresh, type CatalogRefreshParts } from './catalog-refresh.ts';
import { ServiceCatalog } from './service-catalog.ts';

let own: TestDatabase;
let dataDir: string;
let catalog: ServiceCatalog;
let refresh: CatalogRefresh;
let logger: MemoryLogger;
let applied: number;
let nowMs: number;
let url: string;

beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());
beforeEach(async () => {
  await deleteFetches(own.database);
  dataDir = mkdtempSync(join(tmpdir(), 'weir-catalog-'));
  catalog = new ServiceCatalog(dataDir);
  logger = new MemoryLogger();
  applied = 0;
  nowMs = Date.UTC(2026, 5, 1);
  url = pathToFileURL(join(dataDir, 'services.json')).href;
  refresh = refreshOf(catalog, dataDir);
});
afterEach(async () => {
  await refresh.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Creates the catalog refresh of a node. */
function refreshOf(
  ofNode: ServiceCatalog,
  folder: string,
  others: Partial<CatalogRefreshParts> = {},
): CatalogRefresh {
  return new CatalogRefresh({
    catalog: ofNode,
    ...catalogParts(own.database, logger),
    dataDir: folder,
    url: () => url,
    refreshHours: () => 24,
    listDirs: () => [dataDir],
    bounds: { localDomain: () => '', ownPorts: () => new Set() },
    blocked: async () => new Set(),
    apply: async () => {
      applied++;
    },
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    logger,
    ...others,
  });
}

function serve(services: unknown, schema = 1): void {
  writeFileSync(join(dataDir, 'services.json'), JSON.stringify({ schema, services }));
}

const GAMES = { id: 'games', name: 'Games', category: 'Gambling', domains: ['Games.example'], tags: ['x'] };

describe('CatalogRefresh', () => {
  test('fetches a new catalog, activates it, and keeps it after a restart', async () => {
    serve([GAMES]);
    await refresh.check();
    expect(catalog.all()).toEqual([
      {
        id: 'games',
        name: 'Games',
        category: 'gambling',
        category_name: 'Gambling',
        tags: [],
        icon: null,
        domains: ['games.example'],
        exact_domains: [],
        is_custom: false,
        updated_at: new Date(nowMs).toISOString(),
        withdrawn_at: null,
      },
    ]);
    expect(applied).toBe(1);
    const again = new ServiceCatalog(dataDir);
    await again.load(logger, url);
    expect(again.all()).toEqual(catalog.all());
    expect(readdirSync(dataDir).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  test('fetches the catalog again after a day, and not before', async () => {
    serve([GAMES]);
    await refresh.check();
    serve([{ ...GAMES, name: 'More games', domains: ['games.example', 'more.example'] }]);
    await refresh.check();
    expect(catalog.get('games')?.name).toBe('Games');
    nowMs += 86_400_000;
    await refresh.check();
    expect([catalog.get('games')?.name, applied]).toEqual(['More games', 2]);
  });

  test.each<[string, () => void]>([
    ['is missing', () => undefined],
    ['is not JSON', () => writeFileSync(join(dataDir, 'services.json'), 'services: none\n')],
    ['has another schema', () => serve([GAMES], 2)],
    ['has no service', () => serve([])],
    ['has an invalid domain', () => serve([{ ...GAMES, domains: ['not a name'] }])],
    ['uses the ID of a custom service', () => serve([{ ...GAMES, id: 'custom-games' }])],
    ['would block a top-level domain', () => serve([{ ...GAMES, domains: ['example'] }])],
    ['has a service without domains', () => serve([{ ...GAMES, domains: [] }])],
  ])('keeps the active catalog if the file %s, and logs why', async (_what, prepare) => {
    const before = catalog.all();
    prepare();
    await refresh.check();
    expect([catalog.all(), applied]).toEqual([before, 0]);
    expect(logger.text()).toContain('service catalog not updated; the shipped one stays active');
  });

  test('uses the catalog that another node fetched, without a request to the server', async () => {
    serve([GAMES]);
    await refresh.check();
    rmSync(join(dataDir, 'services.json'));
    const folder = join(dataDir, 'other');
    mkdirSync(folder);
    const other = new ServiceCatalog(folder);
    const following = refreshOf(other, folder);
    await following.check();
    expect([other.all(), applied]).toEqual([catalog.all(), 2]);
    expect(logger.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    // The active catalog must not be applied again.
    await Promise.all([refresh.check(), following.check()]);
    expect(applied).toBe(2);
    await following.close();
  });

  test('follow() uses the catalog that another node fetched while the fetch of this node hangs', async () => {
    serve([GAMES]);
    const folder = join(dataDir, 'other');
    mkdirSync(folder);
    const other = new ServiceCatalog(folder);
    const hanging = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<undefined>();
    const hold = (): Promise<boolean> => {
      asked.resolve(undefined);
      return hanging.promise;
    };
    const following = refreshOf(other, folder, { jobs: { hold } });
    void following.check();
    await within('the fetch that hangs', asked.promise);
    await refresh.check();
    await following.follow();
    expect(other.all()).toEqual(catalog.all());
    hanging.resolve(false);
    await following.close();
  });

  test('of two nodes fetches a catalog once', async () => {
    serve([GAMES]);
    const other = refreshOf(new ServiceCatalog(dataDir), dataDir);
    await Promise.all([refresh.check(), other.check()]);
    await Promise.all([refresh.check(), other.check()]);
    expect(logger.lines.filter(({ message }) => message === 'service catalog updated')).toHaveLength(1);
    await other.close();
  });

  test('logs that a stored catalog is damaged, and fetches it again', async () => {
    serve([GAMES]);
    await refresh.check();
    await own.database.query(`UPDATE blobs SET bytes = '\\x00'`);
    const other = new ServiceCatalog(dataDir);
    const following = refreshOf(other, dataDir);
    await following.check();
    expect(logger.text()).toContain('could not use the service catalog in the database; fetching it again');
    await following.check();
    expect(other.get('games')).toBeDefined();
    expect((await own.database.query('SELECT 1 FROM blobs')).rows).toHaveLength(1);
    await following.close();
  });

  test('waits longer after each failure of any node', async () => {
    await refresh.check();
    const other = refreshOf(catalog, dataDir);
    serve([GAMES]);
    await other.check();
    expect(catalog.get('games')).toBeUndefined();
    nowMs += 60_000;
    await other.check();
    expect(catalog.get('games')).toBeDefined();
    await other.close();
  });

  test('fetches nothing if no URL is configured', async () => {
    url = '';
    await refresh.check();
    expect(logger.lines).toEqual([]);
  });
});

describe('ServiceCatalog', () => {
  test('uses the shipped catalog if the copy on disk is damaged, and logs that', async () => {
    writeFileSync(join(dataDir, 'service-catalog.json'), '{"fetched_at":"x"');
    await catalog.load(logger, url);
    expect(catalog.all().length).toBeGreaterThan(1000);
    expect(logger.text()).toContain('the stored service catalog is damaged');
  });

  test('finds the domains of a service', () => {
    expect(catalog.find('netflix')?.domains).toContain('netflix.com');
    expect(catalog.find('nothing')).toBeUndefined();
  });
});
