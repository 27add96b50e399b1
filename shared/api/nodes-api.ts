/** Answers of `{api}/nodes`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

/** A node that shares this database. */
export const ClusterNode = z
  .strictObject({
    node: z.string().meta({ description: '`server.node_name`' }),
    version: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'its address; null = unknown' }),
    started_at: Timestamp.nullable().meta({ description: 'when the node started with this name' }),
    last_seen: Timestamp.meta({
      description: 'for the answering node, now; other nodes report every two seconds',
    }),
    presence: z.enum(['live', 'late', 'gone']).meta({
      description: 'late = silent for 6 s; gone = ended, or silent for 60 s: it may be removed',
    }),
    state: z.enum(['starting', 'ready', 'draining']).nullable().meta({
      description: 'starting = no policy is active yet; draining = about to end; null = unknown',
    }),
    snapshot_id: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'number of the snapshot that the node has published' }),
    policy_revision: z.int().min(0).nullable().meta({
      description:
        'the newest revision that it uses; null = unknown, for example after a start without a database',
    }),
    applied_at: Timestamp.nullable().meta({ description: 'when that revision became active' }),
    lag_ms: z.int().min(0).nullable().meta({
      description: 'milliseconds since the next newer revision was created; 0 = it uses the newest one',
    }),
    qps: z.number().min(0).nullable().meta({ description: 'queries in the last second' }),
    rows_lost: z.int().min(0).nullable().meta({
      description:
        'rows of the query log that were lost since its start, including those that were dropped because a log ring was full',
    }),
    rows_missing: z.int().min(0).meta({
      description:
        'rows of the query log that earlier processes of the node had numbered, or all if the node is gone, and that are not in the database: lost when a process was killed, or waiting on its disk',
    }),
    rows_missing_is_minimum: z.boolean().meta({
      description:
        'a process of the node was killed, or the node is gone: how many rows it had not numbered yet is unknown',
    }),
    rows_spooled: z.int().min(0).nullable().meta({
      description:
        'rows of the query log that were written to its disk since its start because the database was unavailable',
    }),
    clock_offset_ms: z.int().nullable().meta({
      description: 'how far its clock is ahead of the clock of the database',
    }),
    upstreams: z
      .strictObject({ all: z.int().min(0), unhealthy: z.int().min(0) })
      .nullable()
      .meta({ description: 'servers of its pools' }),
    cache: z.strictObject({ entries: z.int().min(0), hit_rate: z.number().min(0).max(100) }).nullable(),
    drift: z.array(z.string()).nullable().meta({
      description:
        'keys of the configuration whose values differ from those of other nodes: set by its environment, or waiting for a restart',
    }),
  })
  .meta({ id: 'ClusterNode' });
export type ClusterNode = z.infer<typeof ClusterNode>;
/** Path parameters of a node. */
export const NodeParams = z.strictObject({ node: z.string().min(1).max(255) });
export const ClusterNodeList = z.array(ClusterNode);
