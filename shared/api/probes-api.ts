/** Requests and responses of `{api}/probes`: the check that a device uses this node. */
import { z } from 'zod';
import { PROTOCOL_NAMES } from '../query-log.ts';
import { Timestamp } from './fields.ts';

const ProbeId = z
  .string()
  .max(64)
  .meta({ examples: ['pbjqYr4oY1sX0UuqzVbKmg'] });

export const ProbeParams = z.strictObject({ probe_id: ProbeId });

export const Probe = z
  .strictObject({
    id: ProbeId.meta({
      description: 'id of the probe, which is required to read it: keep it secret',
      examples: ['pbjqYr4oY1sX0UuqzVbKmg'],
    }),
    name: z.string().meta({
      description: 'name that the device has to query; Weir answers NXDOMAIN and never forwards the query',
      examples: ['8f3a5c0e9b7d42610f5e8a3c.probe.weir.test'],
    }),
    node: z.string(),
    created_at: Timestamp,
    expires_at: Timestamp,
    asked: z.boolean(),
    asked_at: Timestamp.nullable().meta({ description: 'when the name was first queried' }),
    client: z.string().nullable().meta({ description: 'address that first queried the name' }),
    client_hostname: z
      .string()
      .nullable()
      .meta({ description: 'name of the client in `client`, if any; only for logged-in users' }),
    protocol: z.enum(PROTOCOL_NAMES).nullable(),
    askers: z
      .array(
        z.strictObject({
          client: z.string(),
          protocol: z.enum(PROTOCOL_NAMES),
          queries: z.int().min(1),
        }),
      )
      .max(8)
      .meta({
        description:
          'addresses and transports that queried the name, earliest first; one device may use both IPv4 and ' +
          'IPv6',
      }),
    queries: z.int().min(0).meta({ description: 'number of queries for the name' }),
  })
  .meta({ id: 'Probe' });
export type Probe = z.infer<typeof Probe>;
