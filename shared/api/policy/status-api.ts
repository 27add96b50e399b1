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
      description: 'names and expressions that lists, services and own rules block; 0 = nothing is blocked',
    }),
    policy_version: z.int().min(0).meta({
      description: 'another one after each change of policy or lists on this node: read again what is shown',
    }),
  })
  .meta({ id: 'StatusEvent' });
export type StatusEvent = z.infer<typeof StatusEvent>;
