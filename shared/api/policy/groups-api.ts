/** Requests and responses of `{api}/groups`. */
import { z } from 'zod';
import { Comment, Id, label, Timestamp } from '../fields.ts';

/** Id of the group Default, for clients without another group. */
export const DEFAULT_GROUP_ID = 1;

export const Group = z
  .strictObject({
    id: Id,
    name: z.string(),
    enabled: z.boolean(),
    comment: z.string(),
    is_default: z.boolean(),
    no_ipv6: z.boolean().meta({
      description:
        'whether the clients of the group get no IPv6 addresses: AAAA queries get NODATA, and HTTPS and ' +
        'SVCB records have no `ipv6hint`',
    }),
    client_count: z.int().min(0),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Group' });
export type Group = z.infer<typeof Group>;
export const GroupList = z.array(Group);

const Name = label(100);

export const GroupCreateBody = z
  .strictObject({
    name: Name,
    enabled: z.boolean().default(true),
    comment: Comment.default(''),
    no_ipv6: z.boolean().default(false),
  })
  .meta({ id: 'GroupCreate' });
export type GroupCreate = z.infer<typeof GroupCreateBody>;

/** Absent fields keep their value. */
export const GroupUpdateBody = z
  .strictObject({
    name: Name.optional(),
    enabled: z.boolean().optional(),
    comment: Comment.optional(),
    no_ipv6: z.boolean().optional(),
  })
  .meta({ id: 'GroupUpdate' });
export type GroupUpdate = z.infer<typeof GroupUpdateBody>;

export const GroupDeleteQuery = z.object({
  cascade: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({
      type: 'boolean',
      description:
        'also deletes the subnets and rules of the group and removes the group from lists; its clients get ' +
        'the group of their subnet, otherwise Default',
    }),
});
