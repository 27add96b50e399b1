/**
 * Reads fetched catalogs: Weir's own format, and that of the registry of AdGuard's hostlists (`blocked_services` with
 * rules in Adblock syntax). Both may contain hostile data, so their content is limited here and in
 * `shared/api/policy/services-api.ts`. Pure.
 */
import type {
  CatalogFileService,
  CategoryId,
  RegistryService,
  ServiceTag,
} from '../../../shared/api/policy/services-api.ts';
import { CatalogFile, RegistryFile, SERVICE_ID } from '../../../shared/api/policy/services-api.ts';
import { canonicalDomain } from '../../../shared/policy/domain-rule.ts';
import { dataUrl, iconUrl } from './service-icon.ts';

/** A fetched catalog; icons are `data:` URLs. */
export interface FetchedCatalog {
  /** Whether the catalog replaces the included one instead of extending it. */
  readonly isWhole: boolean;
  readonly services: readonly CatalogFileService[];
  /**
   * Number of services that were skipped, because Weir has no category for them, or because none of their rules is for
   * a domain.
   */
  readonly skipped: number;
}

/** A service in the form of the included file. */
type ShippedService = Pick<CatalogFileService, 'id' | 'name' | 'category'> & Partial<CatalogFileService>;

/** Maximum size of the icons of one catalog, as `data:` URLs; services beyond this limit get no icon. */
const MAX_ICON_BYTES = 2_097_152;

/** Weir's categories by group of the registry. Other groups, such as gaming, shopping and ai, have no category. */
const CATEGORY_OF_GROUP: Readonly<Record<string, CategoryId | undefined>> = {
  social_network: 'social_media',
  messenger: 'social_media',
  dating: 'social_media',
  streaming: 'video_streaming',
  gambling: 'gambling',
};

/** Weir's tags by group of the registry. */
const TAG_OF_GROUP: Readonly<Record<string, ServiceTag | undefined>> = {
  gaming: 'games',
  messenger: 'messaging',
  ai: 'ai',
};

/** Reads a catalog in either format; throws if it is invalid. */
export function parseCatalog(text: string): FetchedCatalog {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && 'blocked_services' in value) return fromRegistry(value);
  const services = CatalogFile.parse(value).services;
  return { isWhole: true, services: withIcons(services), skipped: 0 };
}

/**
 * Reads the included file. It is not validated, because this took 0.1 s of CPU time at each start; a test checks the
 * file against the rules for fetched catalogs.
 */
export function readShippedCatalog(text: string): CatalogFileService[] {
  const { services } = JSON.parse(text) as { services: readonly ShippedService[] };
  return services.map(({ id, name, category, tags = [], domains = [], exact = [], icon = null }) => ({
    id,
    name,
    category,
    tags,
    domains,
    exact,
    icon: icon === null ? null : dataUrl(icon),
  }));
}

function fromRegistry(value: unknown): FetchedCatalog {
  const { blocked_services: listed } = RegistryFile.parse(value);
  const services = listed.flatMap((service) => toService(service) ?? []);
  if (services.length === 0) throw new Error('the registry contains no service in a known format');
  return { isWhole: false, services: withIcons(services), skipped: listed.length - services.length };
}

/**
 * Converts a service of the registry. If it has no category, `service-catalog.ts` may find one, because it may know the
 * service.
 */
function toService(service: RegistryService | null): CatalogFileService | null {
  if (service === null || !SERVICE_ID.test(service.id) || service.id.startsWith('custom-')) return null;
  const domains = new Set<string>();
  const exact = new Set<string>();
  for (const rule of service.rules) readRule(rule, domains, exact);
  if (domains.size + exact.size === 0) return null;
  const tag = Object.hasOwn(TAG_OF_GROUP, service.group) ? TAG_OF_GROUP[service.group] : undefined;
  return {
    id: service.id,
    name: service.name,
    category: (Object.hasOwn(CATEGORY_OF_GROUP, service.group) && CATEGORY_OF_GROUP[service.group]) || null,
    tags: tag === undefined ? [] : [tag],
    domains: [...domains],
    exact: [...exact],
    icon: service.icon_svg,
  };
}

/**
 * `||name^` covers the name and its subdomains, `|name^` only the name. Rules with modifiers, wildcards or regular
 * expressions are ignored, because they are not domains. Top-level domains are also ignored, because they never belong
 * to one service.
 */
function readRule(rule: string, domains: Set<string>, exact: Set<string>): void {
  const [, bars, text = ''] = /^(\|\|?)([^|^$*/\s]{1,255})\s?\^?$/.exec(rule.trim()) ?? [];
  const domain = bars === undefined ? null : canonicalDomain(text);
  if (domain?.includes('.') === true) (bars === '||' ? domains : exact).add(domain);
}

function withIcons(services: readonly CatalogFileService[]): CatalogFileService[] {
  let left = MAX_ICON_BYTES;
  return services.map((service) => {
    const icon = left > 0 ? iconUrl(service.icon) : null;
    left -= icon?.length ?? 0;
    return { ...service, icon };
  });
}
