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
      description: 'of the node that answers it is now; others say every ten seconds that they run',
    }),
    snapshot_id: z.int().min(0).nullable().meta({ description: 'counts what the node has published' }),
    policy_revision: z.int().min(0).nullable().meta({
      description:
        'the newest revision that it answers by; null = not known, as when it started without a database',
    }),
    lag_ms: z.int().min(0).nullable().meta({ description: 'for how long there has been a newer revision' }),
    qps: z.number().min(0).nullable().meta({ description: 'queries of its last second' }),
  })
  .meta({ id: 'ClusterNode' });
export type ClusterNode = z.infer<typeof ClusterNode>;
export const ClusterNodeList = z.array(ClusterNode);
