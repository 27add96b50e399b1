/**
 * The built-in services of this node: the file that is shipped, or a newer one that was fetched from
 * `blocking.catalog_url` and is kept in the data directory. Custom services live in the database.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogService } from '../../shared/api/services.ts';
import { CATEGORY_NAMES, CatalogFile } from '../../shared/api/services.ts';
import type { Logger } from '../../shared/log.ts';
import type { PolicyBlockedService } from '../snapshot/compiled-rules.ts';
import { writeDurably } from '../snapshot/durable-file.ts';

const SHIPPED = new URL('./catalog-data.json', import.meta.url);
/** When the shipped file was put together. */
const SHIPPED_AT = '2026-11-21T00:00:00.000Z';

/** Services by their id. */
export class ServiceCatalog {
  private readonly path: string;
  private services: ReadonlyMap<string, CatalogService>;

  /** Reads the shipped file; `load()` replaces it by a fetched one. */
  constructor(dataDir: string) {
    this.path = join(dataDir, 'service-catalog.json');
    this.services = byId(parseCatalog(readFileSync(SHIPPED, 'utf8')), SHIPPED_AT);
  }

  /** Takes the copy on disk where there is a good one. */
  async load(logger: Logger): Promise<void> {
    try {
      const { fetched_at: fetchedAt, catalog } = JSON.parse(await readFile(this.path, 'utf8')) as {
        fetched_at: string;
        catalog: unknown;
      };
      this.services = byId(CatalogFile.parse(catalog), new Date(fetchedAt).toISOString());
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn('skip damaged service catalog; the shipped one is used', { path: this.path, reason });
    }
  }

  /** Keeps a fetched catalog on disk and uses it from now on. */
  async replace(catalog: CatalogFile, now: Date): Promise<void> {
    const fetchedAt = now.toISOString();
    await writeDurably(this.path, Buffer.from(JSON.stringify({ fetched_at: fetchedAt, catalog })));
    this.services = byId(catalog, fetchedAt);
  }

  /** All built-in services, by name. */
  all(): CatalogService[] {
    return [...this.services.values()];
  }

  /** One of them. */
  get(id: string): CatalogService | undefined {
    return this.services.get(id);
  }

  /** One of them, as policy sees it. */
  find(id: string): Pick<PolicyBlockedService, 'serviceName' | 'domains' | 'exact'> | undefined {
    const service = this.services.get(id);
    if (service === undefined) return undefined;
    return { serviceName: service.name, domains: service.domains, exact: service.exact_domains };
  }
}

/** Reads a catalog file; throws where it is none. */
export function parseCatalog(text: string): CatalogFile {
  return CatalogFile.parse(JSON.parse(text));
}

function byId({ services }: CatalogFile, updatedAt: string): ReadonlyMap<string, CatalogService> {
  const shown = services.map(({ id, name, category, domains, exact, icon }): CatalogService => ({
    id,
    name,
    category,
    category_name: CATEGORY_NAMES[category],
    icon,
    domains,
    exact_domains: exact,
    is_custom: false,
    updated_at: updatedAt,
  }));
  shown.sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return new Map(shown.map((service) => [service.id, service]));
}
