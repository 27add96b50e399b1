/** Requests and responses of `{api}/forward-zones`: zones with their own servers. */
import { z } from 'zod';
import { canonicalZone } from '../../policy/zone-text.ts';
import { Comment, Id, text, Timestamp } from '../fields.ts';

/** Maximum number of servers of a zone, to all of which each query is sent. */
const MAX_SERVERS = 8;

const Zone = text(1020)
  .transform((value, context) => {
    const zone = canonicalZone(value);
    if (zone !== null) return zone;
    context.addIssue('expected a domain name, or a network such as 192.0.2.0/24 for its reverse zone');
    return z.NEVER;
  })
  .meta({ description: 'a domain name, or a network, which is converted to its reverse zone' });

/**
 * Upstream servers of a zone; empty = Weir answers the zone from local records. The route checks the URLs with
 * `config/upstream-url.ts`.
 */
const Servers = z
  .array(text(500).transform((value) => value.trim()))
  .max(MAX_SERVERS)
  .refine((servers) => new Set(servers).size === servers.length, 'expected each server once')
  .meta({
    description:
      'URLs of upstream servers, which are queried in parallel; empty = Weir answers queries for the zone from ' +
      'local records, and other names in the zone do not exist',
    examples: [['192.0.2.53', 'tcp://192.0.2.54:5353']],
  });

export const ForwardZone = z
  .strictObject({
    id: Id,
    zone: z.string(),
    servers: z.array(z.string()),
    comment: z.string(),
    enabled: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'ForwardZone' });
export type ForwardZone = z.infer<typeof ForwardZone>;
export const ForwardZoneList = z.array(ForwardZone);

export const ForwardZoneCreateBody = z
  .strictObject({
    zone: Zone,
    servers: Servers,
    comment: Comment.default(''),
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'ForwardZoneCreate' });
export type ForwardZoneCreate = z.output<typeof ForwardZoneCreateBody>;

/** Absent fields keep their value. */
export const ForwardZoneUpdateBody = z
  .strictObject({
    zone: Zone.optional(),
    servers: Servers.optional(),
    comment: Comment.optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'ForwardZoneUpdate' });
export type ForwardZoneUpdate = z.output<typeof ForwardZoneUpdateBody>;
