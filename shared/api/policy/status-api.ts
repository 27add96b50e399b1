/** Events of `{api}/status/stream`. */
import { z } from 'zod';
import { Id } from '../fields.ts';
import { Health } from '../system-api.ts';
import { Blocking } from './blocking-api.ts';

/** The data of one event of `/status/stream`. */
export const StatusEvent = z
  .strictObject({
    health: Health,
    blocking: Blocking,
    blocked_names: z
      .int()
      .min(0)
      .meta({
        description:
          'number of names and regular expressions that lists, services and manual rules block; 0 = nothing ' +
          'is blocked',
      }),
    unblock_requests: z.array(Id).meta({
      description: 'ids of the open requests of devices to unblock a name, see `/unblock-requests`',
    }),
    policy_version: z
      .int()
      .min(0)
      .meta({
        description:
          'a value that changes with each change of policy or lists on this node; clients that display such ' +
          'data should then reload it',
      }),
  })
  .meta({ id: 'StatusEvent' });
export type StatusEvent = z.infer<typeof StatusEvent>;
