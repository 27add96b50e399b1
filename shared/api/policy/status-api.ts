/** Events of `{api}/status/stream`. */
import { z } from 'zod';
import { Health } from '../system-api.ts';
import { Blocking } from './blocking-api.ts';

/** The data of one event of `/status/stream`. */
export const StatusEvent = z
  .strictObject({
    health: Health,
    blocking: Blocking,
    blocked_names: z.int().min(0).meta({
      description:
        'names and regular expressions that lists, services and manual rules block; 0 = nothing is blocked',
    }),
    policy_version: z.int().min(0).meta({
      description: 'changes with each change of policy or lists on this node: reload the displayed data',
    }),
  })
  .meta({ id: 'StatusEvent' });
export type StatusEvent = z.infer<typeof StatusEvent>;
