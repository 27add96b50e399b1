/** Requests and responses of `{api}/clients` and `{api}/client-subnets`. */
import { z } from 'zod';
import { networkFromText, networkToText } from '../../net/cidr.ts';
import { addressFromText, addressToText } from '../../net/ip.ts';
import { canonicalMac } from '../../net/mac.ts';
import { QUERY_STATUS_NAMES } from '../../query-log.ts';
import {
  anyCase,
  ClientKey,
  Comment,
  Id,
  label,
  MAX_ID,
  optionalQueryInt,
  Page,
  pageOf,
  Period,
  queryInt,
  text,
  Timestamp,
} from '../fields.ts';

/**
 * An address in canonical form (RFC 5952), so that each address is stored once. An IPv4-mapped address becomes IPv4.
 */
export const Address = text(64).transform((value, context) => {
  const bytes = value.includes('%') ? null : addressFromText(value);
  if (bytes !== null) return addressToText(bytes);
  context.addIssue('expected an IPv4 or IPv6 address');
  return z.NEVER;
});

/** A MAC address in canonical form. */
export const Mac = text(32).transform((value, context) => {
  const mac = canonicalMac(value);
  if (mac !== null) return mac;
  context.addIssue('expected a MAC address such as 02:00:5e:10:00:01');
  return z.NEVER;
});

/** A network in canonical form. */
export const Cidr = text(64).transform((value, context) => {
  const network = networkFromText(value);
  if (network !== null) return networkToText(network);
  context.addIssue('expected a network such as 192.0.2.0/24 or 2001:db8::/32');
  return z.NEVER;
});

const KEY_USE =
  'key with which the client identifies itself over TLS (host name `KEY.NAME`, with a name of this ' +
  'server) or HTTPS (path `/dns-query/KEY`)';

const GroupChoice = Id.nullable().meta({
  description: 'group of the client; null = the group of its subnet, otherwise Default',
});

/**
 * How the group of a client is determined, in order of precedence; `manual` = assigned to the address or the key of the
 * client.
 */
export const GROUP_SOURCES = ['mac', 'manual', 'subnet', 'default'] as const;
export type GroupSource = (typeof GROUP_SOURCES)[number];

const VENDOR = 'manufacturer that the IEEE registered for the MAC address; null = unknown';
const PRIVATE_ADDRESS =
  'whether the device chose its MAC address itself, as phones do for each network; such an address ' +
  'does not identify the manufacturer';

/** Maximum number of clients that can be merged into one device. */
export const MAX_MERGED = 16;

const EXCLUDED_FROM_LOG =
  'whether queries of the client are left out of the query log, of exports and of dnstap';
const EXCLUDED_FROM_STATS = 'whether queries of the client are left out of statistics';

/** Identifiers of a client that was merged into another client. */
const ClientPart = z.strictObject({
  id: Id.meta({
    description: 'id with which `POST /clients/{id}/split` makes this part a separate client again',
  }),
  ip_address: z.string().nullable(),
  mac_address: z.string().nullable(),
  vendor: z.string().nullable().meta({ description: VENDOR }),
  private_address: z.boolean().meta({ description: PRIVATE_ADDRESS }),
  client_key: z.string().nullable(),
  hostname: z.string().nullable(),
  last_seen: Timestamp.nullable(),
});

export const Client = z
  .strictObject({
    id: Id,
    ip_address: z.string().nullable().meta({ description: 'the last known address of the client' }),
    mac_address: z.string().nullable(),
    vendor: z.string().nullable().meta({ description: VENDOR }),
    private_address: z.boolean().meta({ description: PRIVATE_ADDRESS }),
    client_key: z.string().nullable().meta({ description: KEY_USE }),
    hostname: z.string().nullable(),
    name: z.string().nullable().meta({ description: 'name that a user gave the client' }),
    group_id: Id,
    group_source: z.enum(GROUP_SOURCES),
    first_seen: Timestamp.nullable(),
    last_seen: Timestamp.nullable(),
    query_count: z
      .int()
      .min(0)
      .meta({ description: 'number of queries; queries that statistics exclude are not counted' }),
    exclude_from_log: z.boolean().meta({ description: EXCLUDED_FROM_LOG }),
    exclude_from_stats: z.boolean().meta({ description: EXCLUDED_FROM_STATS }),
    is_new: z.boolean().meta({
      description:
        'whether the client was first seen in the last 24 hours, and has no name, is not merged and was not ' +
        'acknowledged',
    }),
    merged_into: Id.nullable().meta({
      description: 'id of the client that this one is part of, whose name, group and exclusions apply',
    }),
    merged: z.array(ClientPart).meta({ description: 'clients that were merged into this one' }),
  })
  .meta({ id: 'Client' });
export type Client = z.infer<typeof Client>;
export const ClientPage = pageOf(Client).meta({ id: 'ClientPage' });
export type ClientPage = z.infer<typeof ClientPage>;

export const ClientQuery = Page.extend({
  search: text(255)
    .min(1)
    .optional()
    .meta({ description: 'part of an address, MAC address, key, host name, name or manufacturer' }),
  group_id: optionalQueryInt(1, MAX_ID),
  group_source: anyCase(GROUP_SOURCES).optional(),
  is_new: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
  is_unnamed: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({
      description: 'only clients with neither a name nor a host name, or, if false, all other clients',
    }),
});
export type ClientQuery = z.output<typeof ClientQuery>;

/** A page of the clients of one group. */
export const GroupClientQuery = Page;
export type GroupClientQuery = z.output<typeof GroupClientQuery>;

export const SilentDeviceQuery = z.object({
  hours: queryInt(1, 720, 24).meta({ description: 'hours without a query, at least' }),
});

/** A device in the network that sends no queries. */
export const SilentDevice = z
  .strictObject({
    ip_addresses: z.array(z.string()),
    mac_address: z.string().nullable(),
    vendor: z.string().nullable().meta({ description: VENDOR }),
    private_address: z.boolean().meta({ description: PRIVATE_ADDRESS }),
    hostname: z.string().nullable(),
    name: z.string().nullable().meta({ description: 'name that a user gave the client' }),
    client_id: Id.nullable().meta({
      description: 'id of the client; null = the device has never sent a query',
    }),
    last_seen: Timestamp.nullable().meta({ description: 'time of the last query of the client' }),
    seen_in: z.array(z.enum(['leases', 'neighbours'])).meta({
      description:
        'how the device was seen in the network: in DHCP leases, or in the neighbour table of this node',
    }),
  })
  .meta({ id: 'SilentDevice' });
export type SilentDevice = z.infer<typeof SilentDevice>;
export const SilentDeviceList = z.array(SilentDevice);

export const ResolverLookupQuery = z.object({ period: Period.default('24h') });

/** A client that looked up a resolver, and the time of the last lookup. */
export const ResolverLookup = z
  .strictObject({
    client: z.string(),
    client_hostname: z.string().nullable(),
    client_id: Id.nullable().meta({ description: 'id of the client that identified itself by its key' }),
    resolver: z.string(),
    last_asked: Timestamp,
    status: z.enum(QUERY_STATUS_NAMES).meta({ description: 'outcome of the last query' }),
  })
  .meta({ id: 'ResolverLookup' });
export type ResolverLookup = z.infer<typeof ResolverLookup>;
export const ResolverLookupList = z.array(ResolverLookup);

/**
 * A client is identified by its MAC address or, without a MAC address, by its IP address; and also by its key, if any.
 */
export const ClientCreateBody = z
  .strictObject({
    ip_address: Address.nullable().default(null),
    mac_address: Mac.nullable().default(null),
    client_key: ClientKey.nullable().default(null),
    name: label(200).nullable().default(null),
    group_id: GroupChoice.default(null),
    exclude_from_log: z.boolean().default(false).meta({ description: EXCLUDED_FROM_LOG }),
    exclude_from_stats: z.boolean().default(false).meta({ description: EXCLUDED_FROM_STATS }),
  })
  .superRefine(({ ip_address: ip, mac_address: mac, client_key: key }, context) => {
    if (ip !== null || mac !== null || key !== null) return;
    context.addIssue({
      code: 'custom',
      path: ['ip_address'],
      message: 'expected an address, a MAC or a key',
    });
  })
  .meta({ id: 'ClientCreate' });
export type ClientCreate = z.output<typeof ClientCreateBody>;

/** Absent fields keep their value. */
export const ClientUpdateBody = z
  .strictObject({
    ip_address: Address.nullable().optional(),
    mac_address: Mac.nullable().optional(),
    client_key: ClientKey.nullable().optional(),
    name: label(200).nullable().optional(),
    group_id: GroupChoice.optional(),
    exclude_from_log: z.boolean().optional(),
    exclude_from_stats: z.boolean().optional(),
    group_source: z
      .enum(GROUP_SOURCES)
      .optional()
      .meta({
        description:
          'the `group_source` of a GET. If it is subnet or default and `group_id` is unchanged, the client is ' +
          'not assigned to that group',
      }),
  })
  .meta({ id: 'ClientUpdate' });
export type ClientUpdate = z.output<typeof ClientUpdateBody>;

export const ClientMergeBody = z
  .strictObject({ client_ids: z.array(Id).min(1).max(MAX_MERGED) })
  .meta({ id: 'ClientMerge' });

export const ClientIdsBody = z
  .strictObject({ client_ids: z.array(Id).min(1).max(1_000) })
  .meta({ id: 'ClientIds' });
export const AcknowledgedClients = z
  .strictObject({
    acknowledged: z
      .int()
      .min(0)
      .meta({ description: 'number of clients that had not been acknowledged before' }),
  })
  .meta({ id: 'AcknowledgedClients' });

export const ClientGroupBody = z.strictObject({ group_id: GroupChoice }).meta({ id: 'ClientGroup' });

export const ClientStatsQuery = z.object({
  period: Period.default('24h'),
  limit: queryInt(1, 1000, 100),
});
export type ClientStatsQuery = z.output<typeof ClientStatsQuery>;

const Count = z.int().min(0);

/** Statistics of one client in a period. */
export const ClientStats = z
  .strictObject({
    id: Id,
    ip_address: z.string().nullable(),
    hostname: z.string().nullable(),
    name: z.string().nullable(),
    group_id: Id,
    queries_total: Count,
    queries_blocked: Count,
    block_rate: z.number().min(0).max(100),
    last_seen: Timestamp.nullable(),
  })
  .meta({ id: 'ClientStats' });
export type ClientStats = z.infer<typeof ClientStats>;
export const ClientStatsList = z.array(ClientStats);

export const ClientSubnet = z
  .strictObject({
    id: Id,
    subnet_cidr: z.string(),
    group_id: Id,
    group_name: z.string(),
    comment: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'ClientSubnet' });
export type ClientSubnet = z.infer<typeof ClientSubnet>;
export const ClientSubnetList = z.array(ClientSubnet);

export const ClientSubnetCreateBody = z
  .strictObject({ subnet_cidr: Cidr, group_id: Id, comment: Comment.default('') })
  .meta({ id: 'ClientSubnetCreate' });
export type ClientSubnetCreate = z.output<typeof ClientSubnetCreateBody>;
