/** HTTP routes of `{api}/users`. */
import { IdParams } from '../../../../shared/api/fields.ts';
import { User, UserCreateBody, UserList, UserUpdateBody } from '../../../../shared/api/users-api.ts';
import { entity } from '../../../api/entity.ts';
import type { Entity } from '../../../api/entity.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import { ADMIN_USER_ID } from './user-store.ts';
import type { NamedUser, Users } from './users.ts';

export function userRoutes({ users }: { users: Users }): Route[] {
  const user = entity({
    path: '/users/{id}',
    params: IdParams,
    answer: User,
    body: UserUpdateBody,
    read: async (db, { id }) => toUser(await users.read(id, db)),
  });
  return [
    listUsers(users),
    readUser(users, user),
    createUser(users, user),
    updateUser(users, user),
    deleteUser(users, user),
  ];
}

function listUsers(users: Users): Route {
  return route({
    method: 'GET',
    path: '/users',
    access: 'viewer',
    tag: 'Users',
    summary: 'All users, the administrator of the configuration first',
    answer: UserList,
    handle: async () => (await users.list()).map(toUser),
  });
}

function readUser(users: Users, user: Entity): Route {
  return route({
    method: 'GET',
    path: '/users/{id}',
    access: 'viewer',
    tag: 'Users',
    summary: 'One user',
    params: IdParams,
    answer: User,
    entity: user,
    handle: async ({ params }) => toUser(await users.read(params.id)),
  });
}

function createUser(users: Users, user: Entity): Route {
  return route({
    method: 'POST',
    path: '/users',
    access: 'admin',
    tag: 'Users',
    summary: 'Create a user, who can log in immediately',
    body: UserCreateBody,
    status: 201,
    answer: User,
    entity: user,
    errors: {
      409: 'the name is in use, or there are too many users',
      429: 'too many concurrent logins; see Retry-After',
    },
    handle: async (request) => toUser(await users.create(authorOf(request), request.body)),
  });
}

function updateUser(users: Users, user: Entity): Route {
  return route({
    method: 'PATCH',
    path: '/users/{id}',
    access: 'admin',
    tag: 'Users',
    summary: 'Change a user; a new role or password, or disabling the user, ends all sessions of the user',
    params: IdParams,
    body: UserUpdateBody,
    answer: User,
    entity: user,
    errors: {
      403:
        'not permitted; of the administrator in the configuration, only the display name can be changed ' +
        'here',
      429: 'too many concurrent logins; see Retry-After',
    },
    handle: async (request) => {
      const { params, body } = request;
      return toUser(await users.update(authorOf(request), params.id, body));
    },
  });
}

function deleteUser(users: Users, user: Entity): Route {
  return route({
    method: 'DELETE',
    path: '/users/{id}',
    access: 'admin',
    tag: 'Users',
    summary: 'Delete a user, and end all sessions of the user',
    params: IdParams,
    entity: user,
    errors: { 403: 'not permitted, or the user is the administrator in the configuration' },
    handle: (request) => users.remove(authorOf(request), request.params.id),
  });
}

function toUser(user: NamedUser): User {
  return {
    id: user.id,
    username: user.username,
    display_name: user.displayName,
    role: user.role,
    client_ids: [...user.clientIds],
    source: user.id === ADMIN_USER_ID ? 'config' : 'database',
    enabled: user.enabled,
    second_factor: user.hasSecondFactor,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}
