/** Requests and responses of `{api}/services` and `{api}/custom-services`. */
import { z } from 'zod';
import { canonicalDomainRule } from '../../policy/domain-rule.ts';
import { Id, label, MAX_ID, optionalQueryInt, text, Timestamp } from '../fields.ts';

/** The categories of the catalog and their names. */
export const CATEGORY_NAMES = {
  advertising: 'Advertising',
  analytics: 'Analytics & Tracking',
  social_media: 'Social Media',
  telemetry: 'Telemetry',
  adult: 'Adult Content',
  gambling: 'Gambling',
  video_streaming: 'Video Streaming',
} as const;
export type CategoryId = keyof typeof CATEGORY_NAMES;
const CATEGORY_IDS = Object.keys(CATEGORY_NAMES) as [CategoryId, ...CategoryId[]];

export const CategoryList = z.array(
  z.strictObject({ id: z.enum(CATEGORY_IDS), name: z.string() }).meta({ id: 'ServiceCategory' }),
);
export type CategoryList = z.infer<typeof CategoryList>;

/** Kinds of services, independent of the categories. */
export const SERVICE_TAGS = ['popular', 'games', 'messaging', 'ai'] as const;
export type ServiceTag = (typeof SERVICE_TAGS)[number];
const Tags = z.array(z.enum(SERVICE_TAGS)).default([]);

/** Id of a service, e.g. `netflix` or `custom-my-games`. */
export const SERVICE_ID = /^[a-z0-9][a-z0-9._-]{0,99}$/;
export const ServiceId = z.string().regex(SERVICE_ID, 'expected the id of a service');

export const CatalogService = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    category: z.enum(CATEGORY_IDS),
    category_name: z.string(),
    tags: Tags,
    icon: z
      .string()
      .nullable()
      .meta({ description: 'data: URL of an SVG image, for use in an <img> element' }),
    domains: z
      .array(z.string())
      .meta({ description: 'domains of the service; each also covers its subdomains' }),
    exact_domains: z
      .array(z.string())
      .meta({ description: 'names of the service that do not cover their subdomains' }),
    is_custom: z.boolean(),
    updated_at: Timestamp,
    withdrawn_at: Timestamp.nullable().meta({
      description:
        'when the publisher of the catalog stopped listing the service; its last known domains stay active',
    }),
  })
  .meta({ id: 'CatalogService' });
export type CatalogService = z.infer<typeof CatalogService>;
export const CatalogServiceList = z.array(CatalogService);

const BLOCK_TIMES =
  'schedule profile during whose block_all slots the service is blocked; null = at all times';

export const BlockedService = z
  .strictObject({
    id: Id,
    service_id: z.string(),
    group_id: Id,
    profile_id: Id.nullable().meta({ description: BLOCK_TIMES }),
    created_at: Timestamp,
  })
  .meta({ id: 'BlockedService' });
export type BlockedService = z.infer<typeof BlockedService>;
export const BlockedServiceList = z.array(BlockedService);

export const ClientServiceList = z.array(
  z.strictObject({ service_id: z.string(), name: z.string() }).meta({ id: 'ClientService' }),
);
export type ClientServiceList = z.infer<typeof ClientServiceList>;

export const BlockedServiceQuery = z.object({
  group_id: optionalQueryInt(1, MAX_ID),
});
export type BlockedServiceQuery = z.output<typeof BlockedServiceQuery>;

const BlockProfile = Id.nullable().meta({ description: BLOCK_TIMES, examples: [null] });

export const ServiceBlockBody = z
  .strictObject({ service_id: ServiceId, group_id: Id, profile_id: BlockProfile.default(null) })
  .meta({ id: 'ServiceBlock' });
export type ServiceBlock = z.output<typeof ServiceBlockBody>;

export const ServiceTimesBody = z.strictObject({ profile_id: BlockProfile }).meta({ id: 'ServiceTimes' });

/** Path parameters of a service; ids of the catalog are texts. */
export const ServiceParams = z.strictObject({ service_id: ServiceId });
export type ServiceParams = z.output<typeof ServiceParams>;
export const ServiceGroupParams = z.strictObject({
  service_id: ServiceId,
  group_id: z
    .string()
    .regex(/^\d{1,15}$/, 'expected an integer')
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: MAX_ID }),
});
/** `force`: also deletes the blocks of the service. */
export const CustomServiceDeleteQuery = z.object({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean' }),
});
export type CustomServiceDeleteQuery = z.output<typeof CustomServiceDeleteQuery>;
export type ServiceGroupParams = z.output<typeof ServiceGroupParams>;

/** The id or the name of a category. */
const Category = z
  .string()
  .transform((value, context) => {
    const id = CATEGORY_IDS.find((known) => known === value || CATEGORY_NAMES[known] === value);
    if (id !== undefined) return id;
    context.addIssue(`expected one of ${CATEGORY_IDS.join(', ')}`);
    return z.NEVER;
  })
  .meta({ examples: [...CATEGORY_IDS] });

/** Every domain of a service covers its subdomains, so a leading `*.` changes nothing and is dropped. */
const ServiceDomain = text(1020).transform((value, context) => {
  const domain = canonicalDomainRule(value);
  if (domain !== null) return domain.replace(/^\*\./, '');
  context.addIssue('expected a domain name');
  return z.NEVER;
});
const Domains = z
  .array(ServiceDomain)
  .min(1)
  .max(10_000)
  .transform((domains) => [...new Set(domains)]);

export const CustomServiceCreateBody = z
  .strictObject({ name: label(100), category: Category, domains: Domains })
  .meta({ id: 'CustomServiceCreate' });
export type CustomServiceCreate = z.output<typeof CustomServiceCreateBody>;

/** Absent fields keep their value. */
export const CustomServiceUpdateBody = z
  .strictObject({ name: label(100).optional(), category: Category.optional(), domains: Domains.optional() })
  .meta({ id: 'CustomServiceUpdate' });
export type CustomServiceUpdate = z.output<typeof CustomServiceUpdateBody>;

export const CustomService = z
  .strictObject({
    service_id: z.string(),
    name: z.string(),
    category: z.enum(CATEGORY_IDS),
    category_name: z.string(),
    domains: z.array(z.string()),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'CustomService' });
export type CustomService = z.infer<typeof CustomService>;
export const CustomServiceList = z.array(CustomService);

/** Maximum number of services in a catalog. */
const MAX_CATALOG_SERVICES = 20_000;

/** A domain of a fetched service; a top-level domain is refused. */
const FetchedDomain = ServiceDomain.refine((domain) => domain.includes('.'), 'expected more than one label');
const FetchedDomains = z
  .array(FetchedDomain)
  .max(10_000)
  .default([])
  .transform((domains) => [...new Set(domains)]);

const CatalogFileFields = z.object({
  id: ServiceId.refine(
    (id) => !id.startsWith('custom-'),
    'expected an id that is not that of a custom service',
  ),
  name: label(200),
  category: Category.nullable(),
  tags: Tags.catch([]),
  domains: FetchedDomains,
  exact: FetchedDomains,
  icon: z.string().max(32_768).nullable().default(null).catch(null),
});
/** One service of a catalog. `icon` is an SVG in the file, and is converted to a `data:` URL. */
export type CatalogFileService = z.output<typeof CatalogFileFields>;

const hasDomains = ({ domains, exact }: { domains: unknown[]; exact: unknown[] }): boolean =>
  domains.length + exact.length > 0;

/** A catalog file; unknown members are ignored. */
export const CatalogFile = z.object({
  schema: z.literal(1),
  services: z
    .array(
      CatalogFileFields.extend({ category: Category }).refine(hasDomains, 'expected at least one domain'),
    )
    .min(1)
    .max(MAX_CATALOG_SERVICES),
});

/** A service of the registry of AdGuard's hostlists; null if it has another form. */
const RegistryEntry = z
  .object({
    id: z.string(),
    name: label(200),
    group: z.string().default(''),
    rules: z.array(z.string().max(1024)).max(10_000),
    icon_svg: z.string().nullable().default(null).catch(null),
  })
  .nullable()
  .catch(null);
export type RegistryService = NonNullable<z.output<typeof RegistryEntry>>;

/** The registry's `services.json`. */
export const RegistryFile = z.object({
  blocked_services: z.array(RegistryEntry).min(1).max(MAX_CATALOG_SERVICES),
});

/** The copy of the fetched catalog in the data directory. */
export const KeptCatalog = z.object({
  url: z.string(),
  fetched_at: Timestamp,
  is_whole: z.boolean(),
  services: z.array(CatalogFileFields),
  withdrawn: z.array(CatalogService),
});
export type KeptCatalog = z.output<typeof KeptCatalog>;
