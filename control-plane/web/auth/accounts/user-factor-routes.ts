/** HTTP routes of `{api}/users/{id}/second-factor`. */
import { IdParams } from '../../../../shared/api/fields.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import type { Users } from './users.ts';

/** The routes of the second factors of other users. */
export function userFactorRoutes({ users }: { users: Users }): Route[] {
  return [removeSecondFactor(users)];
}

function removeSecondFactor(users: Users): Route {
  return route({
    method: 'DELETE',
    path: '/users/{id}/second-factor',
    access: 'admin',
    tag: 'Users',
    summary:
      'Remove the second factor of another user, for example if the authenticator app and the recovery ' +
      'codes are lost',
    params: IdParams,
    errors: { 403: 'not permitted, or the second factor is that of the caller or of the administrator' },
    handle: (request) => users.removeSecondFactor(authorOf(request), request.caller!, request.params.id),
  });
}
