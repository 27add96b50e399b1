/** Responses of `{api}/nodes`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

/** A node that shares this database. */
export const ClusterNode = z
  .strictObject({
    node: z.string().meta({ description: 'name of the node (`server.node_name`)' }),
    version: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'address of the node; null = unknown' }),
    started_at: Timestamp.nullable().meta({ description: 'when the node started under this name' }),
    last_seen: Timestamp.meta({
      description:
        'the current time for the node that answers the request; other nodes report every two seconds',
    }),
    presence: z.enum(['live', 'late', 'gone']).meta({
      description:
        'late = no report for 6 s; gone = stopped, or no report for 60 s, so that the node may be removed',
    }),
    state: z.enum(['starting', 'ready', 'draining']).nullable().meta({
      description: 'starting = no policy is active yet; draining = about to stop; null = unknown',
    }),
    snapshot_id: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'number of the active policy snapshot of the node' }),
    policy_revision: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          'the newest revision that is active on the node; null = unknown, for example after a start without ' +
          'a database',
      }),
    applied_at: Timestamp.nullable().meta({
      description: 'when `policy_revision` became active on the node',
    }),
    lag_ms: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          'milliseconds since the oldest revision that is not yet active on the node was created; 0 = the ' +
          'newest revision is active',
      }),
    qps: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'queries that the node answered in the last second' }),
    rows_lost: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          'rows of the query log that the node has lost since its start, including rows that were discarded ' +
          'because the buffer between DNS threads and the log was full',
      }),
    rows_missing: z
      .int()
      .min(0)
      .meta({
        description:
          'rows that are numbered by the node but missing in the query log of the database: rows of its ' +
          'earlier processes, or of all processes if the node is gone. The rows were lost when a process was ' +
          'killed, or wait on the disk of the node',
      }),
    rows_missing_is_minimum: z.boolean().meta({
      description:
        'whether more rows than `rows_missing` may be missing, because a process of the node was killed or ' +
        'the node is gone',
    }),
    rows_spooled: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          'rows of the query log that the node has written to its disk since its start because the database ' +
          'was unavailable',
      }),
    clock_offset_ms: z.int().nullable().meta({
      description: 'milliseconds by which the clock of the node is ahead of the clock of the database',
    }),
    upstreams: z
      .strictObject({ all: z.int().min(0), unhealthy: z.int().min(0) })
      .nullable()
      .meta({ description: 'servers of the pools of the node' }),
    cache: z.strictObject({ entries: z.int().min(0), hit_rate: z.number().min(0).max(100) }).nullable(),
    drift: z
      .array(z.string())
      .nullable()
      .meta({
        description:
          'keys of the configuration whose values on this node differ from those of other nodes, because the ' +
          'environment of the node sets the key or because a restart is pending',
      }),
  })
  .meta({ id: 'ClusterNode' });
export type ClusterNode = z.infer<typeof ClusterNode>;
/** Path parameters of a node. */
export const NodeParams = z.strictObject({ node: z.string().min(1).max(255) });
export const ClusterNodeList = z.array(ClusterNode);
