/** Answers of `{api}/nodes`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

/** A node that shares this database. */
export const ClusterNode = z
  .strictObject({
    node: z.string().meta({ description: '`server.node_name`' }),
    version: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'where it may be reached; null = not known' }),
    started_at: Timestamp.nullable().meta({ description: 'when the node took its name, as it starts' }),
    last_seen: Timestamp.meta({
      description: 'of the node that answers it is now; others say every two seconds that they run',
    }),
    presence: z.enum(['live', 'late', 'gone']).meta({
      description: 'late = silent for 6 s; gone = ended, or silent for 60 s: it may be forgotten',
    }),
    state: z.enum(['starting', 'ready', 'draining']).nullable().meta({
      description: 'starting = no policy is active yet; draining = about to end; null = not known',
    }),
    snapshot_id: z.int().min(0).nullable().meta({ description: 'counts what the node has published' }),
    policy_revision: z.int().min(0).nullable().meta({
      description:
        'the newest revision that it answers by; null = not known, as when it started without a database',
    }),
    applied_at: Timestamp.nullable().meta({ description: 'when that revision became active' }),
    lag_ms: z.int().min(0).nullable().meta({ description: 'for how long there has been a newer revision' }),
    qps: z.number().min(0).nullable().meta({ description: 'queries of its last second' }),
    rows_lost: z.int().min(0).nullable().meta({
      description: 'rows of the query log, since its start, those included that found a full log ring',
    }),
    rows_missing: z.int().min(0).meta({
      description:
        'rows of the query log that its processes before had numbered, or its last one where it is gone, and that are not in the database: lost by a kill, or waiting on its disk',
    }),
    rows_missing_is_minimum: z.boolean().meta({
      description:
        'a process of the node was killed, or is gone: how many rows it had not numbered yet is not known',
    }),
    rows_spooled: z.int().min(0).nullable().meta({
      description: 'rows of the query log that went to its disk as the database was away, since its start',
    }),
    clock_offset_ms: z.int().nullable().meta({
      description: 'how far its clock is ahead of that of the database',
    }),
    upstreams: z
      .strictObject({ all: z.int().min(0), unhealthy: z.int().min(0) })
      .nullable()
      .meta({ description: 'servers of its pools' }),
    cache: z.strictObject({ entries: z.int().min(0), hit_rate: z.number().min(0).max(100) }).nullable(),
    drift: z.array(z.string()).nullable().meta({
      description:
        'keys of the configuration by which it runs otherwise than others: set by its environment, or waiting for a restart',
    }),
  })
  .meta({ id: 'ClusterNode' });
export type ClusterNode = z.infer<typeof ClusterNode>;
/** Path parameters of a node. */
export const NodeParams = z.strictObject({ node: z.string().min(1).max(255) });
export const ClusterNodeList = z.array(ClusterNode);
