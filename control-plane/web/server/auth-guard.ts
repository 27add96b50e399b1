/**
 * The access control of every route: deny by default. A request is admitted if its route is public, or if it has a
 * session or an API token whose role is sufficient.
 */
import type { Request } from 'express';
import { mayCall } from '../../api/route-access.ts';
import type { Access } from '../../api/route-access.ts';
import { forbidden } from '../../api/api-error.ts';
import type { Caller } from '../../api/caller.ts';
import type { RefusalCode } from '../../../shared/api/client/faults/refusal-lines.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { callerOf } from '../auth/request-caller.ts';
import { refuseCrossOrigin } from '../edge/origin-check.ts';

/**
 * The caller of a request to a route with `access`; null only on public routes. Throws 401 and 403, and
 * DatabaseUnavailable if a session cannot be looked up.
 */
export async function guard(auth: Authenticator, access: Access, request: Request): Promise<Caller | null> {
  const changesSomething = request.method !== 'GET' && request.method !== 'HEAD';
  if (access === 'public') {
    // Even without a session, check the origin: login, setup and logout change what the sender's browser may do.
    if (changesSomething) refuseCrossOrigin(request);
    return null;
  }
  const caller = await callerOf(auth, request);
  if (caller === null) throw await auth.refusal();
  if (changesSomething) refuseCrossOrigin(request);
  if (!mayCall(caller, access)) throw forbidden(refusalOf(caller));
  return caller;
}

/** Why the role of a caller is insufficient. Administrators may call all routes. */
function refusalOf({ role, tokenId }: Caller): RefusalCode {
  if (role === 'family') return 'family_limited';
  return tokenId === null ? 'viewer_reads' : 'token_reads';
}
