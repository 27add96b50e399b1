/** Requests and responses of `{api}/blocking`: pausing and resuming all blocking. */
import { z } from 'zod';

/** A year. */
const MAX_TIMER_SECS = 31_536_000;

export const Blocking = z
  .strictObject({
    enabled: z.boolean(),
    timer_secs: z.int().min(0).nullable().meta({
      description:
        'seconds until blocking returns to its previous state; null = the state stays until it is changed',
    }),
    source: z
      .enum(['configuration', 'switch'])
      .meta({ description: 'what set the state: `blocking.enabled`, or a request to this operation' }),
    this_node_only: z.boolean().meta({
      description:
        'whether the state applies only to this node, because the database was unavailable when it was set',
    }),
  })
  .meta({ id: 'Blocking' });
export type Blocking = z.infer<typeof Blocking>;

export const BlockingChangeBody = z
  .strictObject({
    enabled: z.boolean(),
    timer_secs: z.int().min(1).max(MAX_TIMER_SECS).nullable().default(null),
  })
  .meta({ id: 'BlockingChange' });
