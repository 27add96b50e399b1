/**
 * Requests and responses of `{api}/unblock-requests`, and of the page `/check`, on which users ask to unblock a name.
 */
import { z } from 'zod';
import { Id, Timestamp } from '../fields.ts';
import { GrantedDomain } from '../policy/grants-api.ts';

export const UnblockRequest = z
  .strictObject({
    id: Id,
    domain: z.string().meta({ description: 'the name that is blocked for the client' }),
    client_id: Id,
    client_name: z
      .string()
      .meta({ description: 'name that a user gave the client, otherwise its host name or address' }),
    group_id: Id.meta({ description: 'group of the client' }),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'UnblockRequest' });
export type UnblockRequest = z.infer<typeof UnblockRequest>;

export const UnblockRequestList = z.array(UnblockRequest);

/** Request body that a device sends: only a domain name, so that it cannot show a message to users. */
export const UnblockAskBody = z.strictObject({ domain: GrantedDomain });

/**
 * Outcome of a request. `asked`: users see the request. `already_asked`: the device already has an open request and may
 * not make another. `not_blocked`: the name is not blocked for this device. `unknown_device`: no query from the device
 * was seen yet.
 */
export const UnblockAskAnswer = z.strictObject({
  outcome: z.enum(['asked', 'already_asked', 'not_blocked', 'unknown_device']),
});
export type UnblockAskAnswer = z.infer<typeof UnblockAskAnswer>;
