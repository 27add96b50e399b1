/**
 * The built-in services of this node: those of the included file, and those fetched from `blocking.catalog_url`, which
 * are stored in the data directory. Custom services are in the database.
 *
 * If no source lists a service any more, the service is marked as withdrawn, not deleted: a group may block it, and the
 * block must remain effective. While a group blocks a withdrawn service, the service keeps its last domains. Of
 * withdrawn services that no group blocks, only the newest are kept, because a block may just be created or restored by
 * a rollback.
 */
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogFileService, CatalogService } from '../../../shared/api/policy/services-api.ts';
import { CATEGORY_NAMES, KeptCatalog } from '../../../shared/api/policy/services-api.ts';
import type { Logger } from '../../../shared/log.ts';
import type { PolicyBlockedService } from '../../policy/change/rows.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import type { FetchedCatalog } from './parse-catalog.ts';
import { readShippedCatalog } from './parse-catalog.ts';

const SHIPPED = new URL('./catalog-data.json', import.meta.url);
/** Date of the included file. */
const SHIPPED_AT = '2026-11-28T00:00:00.000Z';
/** Maximum number of withdrawn services that are kept although no group blocks them. */
const MAX_IDLE_WITHDRAWN = 200;

type Services = ReadonlyMap<string, CatalogService>;

/** URL and time of a fetched catalog, and the services that are blocked for at least one group. */
export interface Fetching {
  readonly url: string;
  readonly now: Date;
  readonly blocked: ReadonlySet<string>;
}

/** The built-in services. One per node. */
export class ServiceCatalog {
  private readonly path: string;
  private readonly shipped: Services;
  private services: Services;

  /** Reads the included file; `load()` adds the fetched services. */
  constructor(dataDir: string) {
    this.path = join(dataDir, 'service-catalog.json');
    const services = readShippedCatalog(readFileSync(SHIPPED, 'utf8'));
    this.shipped = byId(services.flatMap((service) => toService(service, undefined, SHIPPED_AT) ?? []));
    this.services = this.shipped;
  }

  /** Loads the copy on disk if it is valid; `url` is `blocking.catalog_url`, empty = included file only. */
  async load(logger: Logger, url: string): Promise<void> {
    try {
      this.use(KeptCatalog.parse(JSON.parse(await readFile(this.path, 'utf8'))), url);
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return;
      const reason = reasonOf(error);
      logger.warn('the stored service catalog is damaged; using the built-in one', {
        path: this.path,
        reason,
      });
    }
  }

  /** Selects the parts of a fetched catalog that the nodes store. */
  keep(catalog: FetchedCatalog, { url, now, blocked }: Fetching): KeptCatalog {
    const fetchedAt = now.toISOString();
    const listed = this.merge(catalog, fetchedAt);
    const gone = withdrawn(this.services, listed, fetchedAt);
    gone.sort((a, b) => (b.withdrawn_at ?? '').localeCompare(a.withdrawn_at ?? ''));
    const idle = gone.filter(({ id }) => !blocked.has(id) && !this.shipped.has(id));
    return {
      url,
      fetched_at: fetchedAt,
      is_whole: catalog.isWhole,
      services: [...catalog.services],
      withdrawn: [...gone.filter(({ id }) => blocked.has(id)), ...idle.slice(0, MAX_IDLE_WITHDRAWN)],
    };
  }

  /** Stores a catalog on disk and activates it. */
  async take(kept: KeptCatalog): Promise<void> {
    await writeDurably(this.path, Buffer.from(JSON.stringify(kept)));
    this.use(kept, kept.url);
  }

  /** Whether the active catalog is the included one, because none was fetched yet. */
  isShipped(): boolean {
    return this.services === this.shipped;
  }

  /** All built-in services, by name. */
  all(): CatalogService[] {
    return [...this.services.values()];
  }

  /** One service of the catalog. */
  get(id: string): CatalogService | undefined {
    return this.services.get(id);
  }

  /** A service of the catalog, or an included service that a fetched catalog replaces, in the form that policy uses. */
  find(id: string): Pick<PolicyBlockedService, 'serviceName' | 'domains' | 'exact'> | undefined {
    const service = this.services.get(id) ?? this.shipped.get(id);
    if (service === undefined) return undefined;
    return { serviceName: service.name, domains: service.domains, exact: service.exact_domains };
  }

  private use(
    { is_whole: isWhole, services, fetched_at: at, withdrawn: gone }: KeptCatalog,
    url: string,
  ): void {
    const fetched = this.merge({ isWhole, services }, at);
    const listed = url === '' ? this.shipped : fetched;
    this.services = joined(listed, withdrawn(joined(fetched, gone), listed, at));
  }

  /**
   * The included services merged with those of a fetched catalog. If the included catalog contains a service, by id or
   * by name without regard to punctuation, the service keeps its id and category, and has the domains of both catalogs,
   * so that no domain is unblocked if the fetched catalog has fewer.
   */
  private merge({ isWhole, services }: Omit<FetchedCatalog, 'skipped'>, fetchedAt: string): Services {
    const merged = new Map<string, CatalogService>(isWhole ? [] : this.shipped);
    const ids = new Map<string, string>();
    for (const { id, name } of merged.values()) ids.set(folded(name), id);
    for (const { id } of merged.values()) ids.set(folded(id), id);
    for (const service of services) {
      const knownId = isWhole ? undefined : (ids.get(folded(service.id)) ?? ids.get(folded(service.name)));
      const result = toService(service, merged.get(knownId ?? service.id), fetchedAt);
      if (result !== null) merged.set(result.id, result);
    }
    return byId(merged.values());
  }
}

/** A text for comparison, which is the same for `Disney+` and `disney-plus`. */
function folded(text: string): string {
  const plain = text.toLowerCase().replaceAll('+', 'plus');
  return plain.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Converts a service to the form of the API; null if Weir has no category for it. */
function toService(
  service: CatalogFileService,
  known: CatalogService | undefined,
  updatedAt: string,
): CatalogService | null {
  const category = known?.category ?? service.category;
  if (category === null) return null;
  return {
    id: known?.id ?? service.id,
    name: known?.name ?? service.name,
    category,
    category_name: CATEGORY_NAMES[category],
    tags: union(known?.tags, service.tags),
    icon: service.icon ?? known?.icon ?? null,
    domains: union(known?.domains, service.domains),
    exact_domains: union(known?.exact_domains, service.exact),
    is_custom: false,
    updated_at: updatedAt,
    withdrawn_at: null,
  };
}

function union<T extends string>(known: readonly T[] = [], more: readonly T[]): T[] {
  return [...new Set([...known, ...more])];
}

/** Services in `before` that are no longer listed. */
function withdrawn(before: Services, listed: Services, now: string): CatalogService[] {
  const gone = [...before.values()].filter(({ id }) => !listed.has(id));
  return gone.map((service) => ({ ...service, withdrawn_at: service.withdrawn_at ?? now }));
}

function joined(listed: Services, gone: readonly CatalogService[]): Services {
  return byId([...gone.filter(({ id }) => !listed.has(id)), ...listed.values()]);
}

function byId(services: Iterable<CatalogService>): Services {
  const sorted = [...services].sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return new Map(sorted.map((service) => [service.id, service]));
}
