/** Requests and responses of `{api}/users`. */
import { z } from 'zod';
import { NewPassword, Role } from './auth-api.ts';
import { Id, identity, Timestamp } from './fields.ts';

export const User = z
  .strictObject({
    id: Id,
    username: z.string(),
    display_name: z.string(),
    role: Role,
    source: z.enum(['config', 'database']).meta({
      description: 'config: the administrator, who is defined in the configuration and cannot be deleted',
    }),
    client_ids: z.array(Id).meta({
      description:
        'ids of the clients that a user with the role family can pause and create grants for; empty for ' +
        'other roles',
    }),
    enabled: z.boolean(),
    second_factor: z.boolean().meta({ description: 'whether a login also requires a code' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;
export const UserList = z.array(User);

/** User names that are reserved, because they are shown as the author of changes made by Weir. */
const TAKEN = new Set(['system', 'anonymous']);

/** A user name. It is ASCII without regard to letter case, so that no two names look alike. */
const Username = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._@+-]*[A-Za-z0-9])?$/,
    'expected ASCII letters and digits, with . _ @ + - only between them',
  )
  .refine((name) => !TAKEN.has(name.toLowerCase()), 'this name is reserved by Weir')
  .meta({ description: 'unique name; letter case is ignored' });

const DisplayName = identity(100);

/** Maximum number of clients of one user. */
const MAX_CLIENTS = 1000;

const ClientIds = z
  .array(Id)
  .max(MAX_CLIENTS)
  .refine((ids) => new Set(ids).size === ids.length, 'expected each client once')
  .meta({
    description: 'ids of the clients that the user can pause and create grants for; only for the role family',
    examples: [[]],
  });

export const UserCreateBody = z
  .strictObject({
    username: Username,
    password: NewPassword,
    display_name: DisplayName.default(''),
    role: Role.default('viewer'),
    client_ids: ClientIds.default([]),
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'UserCreate' });
export type UserCreate = z.output<typeof UserCreateBody>;

/** Absent fields keep their value. */
export const UserUpdateBody = z
  .strictObject({
    display_name: DisplayName.optional(),
    role: Role.optional(),
    client_ids: ClientIds.optional(),
    enabled: z.boolean().optional(),
    password: NewPassword.optional(),
  })
  .meta({ id: 'UserUpdate' });
export type UserUpdate = z.output<typeof UserUpdateBody>;
