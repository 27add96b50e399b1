/** Requests and responses of `{api}/clients/refused`: which clients may send queries, and which were refused. */
import { z } from 'zod';
import { Timestamp } from '../fields.ts';
import { Cidr } from './clients-api.ts';

const Count = z.int().min(0);

/**
 * Access warnings: anyone on the internet may send queries without a rate limit; all clients have the address of a
 * gateway or proxy.
 */
export const ACCESS_WARNINGS = ['open_without_limit', 'one_address'] as const;

/** A network whose clients were refused. */
export const RefusedNetwork = z
  .strictObject({
    network: z.string(),
    last_client: z.string().meta({ description: 'address of the client that was refused last' }),
    first_refused: Timestamp,
    last_refused: Timestamp,
    count: Count.meta({ description: 'number of refused queries' }),
    is_blocked: z.boolean().meta({
      description:
        'the network is in `dns.blocked_clients`: its clients stay refused even if the network is allowed',
    }),
  })
  .meta({ id: 'RefusedNetwork' });
export type RefusedNetwork = z.infer<typeof RefusedNetwork>;

/** A network of recent clients that will be refused when the announcement ends. */
export const AnnouncedNetwork = z
  .strictObject({
    network: z.string(),
    clients: Count.meta({ description: 'number of recent clients in the network' }),
    last_client: z.string().meta({ description: 'address of the client that sent the last query' }),
    name: z.string().nullable().meta({ description: 'name or host name of the client in `last_client`' }),
    last_seen: Timestamp,
  })
  .meta({ id: 'AnnouncedNetwork' });
export type AnnouncedNetwork = z.infer<typeof AnnouncedNetwork>;

export const RefusedClients = z
  .strictObject({
    allowed_clients: z.array(z.string()).meta({ description: 'current value of `dns.allowed_clients`' }),
    warnings: z.array(z.enum(ACCESS_WARNINGS)),
    only_address: z.string().nullable().meta({
      description: 'with the warning `one_address`, the address that all clients have; otherwise null',
    }),
    announced: z
      .strictObject({ until: Timestamp, networks: z.array(AnnouncedNetwork) })
      .nullable()
      .meta({ description: 'recent clients that will be refused from a given time on; null = none' }),
    refused: z.array(RefusedNetwork).meta({
      description:
        'networks of clients that this node has refused since its start, the latest first; networks that ' +
        'are allowed now are left out',
    }),
  })
  .meta({ id: 'RefusedClients' });
export type RefusedClients = z.infer<typeof RefusedClients>;

/** Minimum prefix lengths. A shorter prefix covers so much of the internet that users must set `any` instead. */
const SHORTEST_IPV4_BITS = 8;
const SHORTEST_IPV6_BITS = 16;

const ClientNetwork = Cidr.refine(
  (network) =>
    Number(network.slice(network.indexOf('/') + 1)) >=
    (network.includes(':') ? SHORTEST_IPV6_BITS : SHORTEST_IPV4_BITS),
  'expected a prefix of at least /8 (IPv4) or /16 (IPv6); to allow all clients, set dns.allowed_clients to any',
);

export const AllowNetworksBody = z
  .strictObject({
    networks: z
      .array(ClientNetwork)
      .min(1)
      .max(1000)
      .meta({ examples: [['198.51.100.0/24']] }),
  })
  .meta({ id: 'AllowNetworks' });

export const AllowedClients = z
  .strictObject({ allowed_clients: z.array(z.string()) })
  .meta({ id: 'AllowedClients' });
