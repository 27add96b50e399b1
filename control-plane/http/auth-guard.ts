/**
 * The guard of every route: deny by default. A request gets through if its route is public, or if it brings a session
 * (or, from a later version on, an API token) whose role is enough.
 */
import type { Request } from 'express';
import { forbidden } from '../api/api-error.ts';
import type { Authenticator, Caller } from '../auth/authenticator.ts';
import { DatabaseUnavailable } from '../db/database-errors.ts';
import { refuseCrossOrigin } from './origin-check.ts';
import type { Access } from '../api/route.ts';
import { sessionSecretOf } from '../auth/session-cookie.ts';

/**
 * The caller of a request to a route with `access`; null only on public routes. Throws 401 and 403, and
 * DatabaseUnavailable where a session cannot be looked up.
 */
export async function guard(auth: Authenticator, access: Access, request: Request): Promise<Caller | null> {
  const changesSomething = request.method !== 'GET' && request.method !== 'HEAD';
  if (access === 'public') {
    // Login, setup and logout change what the browser of the sender may do.
    if (changesSomething) refuseCrossOrigin(request);
    return null;
  }
  const caller = await identify(auth, request);
  if (caller === null) throw await auth.refusal();
  if (changesSomething) refuseCrossOrigin(request);
  if (!isEnough(caller, access)) throw forbidden('the role viewer may read, not change');
  return caller;
}

/** The caller of a request to a public route; null without a session, and if none can be looked up. */
export async function callerIfKnown(auth: Authenticator, request: Request): Promise<Caller | null> {
  try {
    return await identify(auth, request);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  }
}

async function identify(auth: Authenticator, request: Request): Promise<Caller | null> {
  const open = auth.openCaller();
  if (open !== null) return open;
  const secret = sessionSecretOf(request);
  // API tokens: `X-Api-Key` is ignored until there is a store of tokens.
  return secret === undefined ? null : auth.callerOf(secret);
}

function isEnough(caller: Caller, access: Exclude<Access, 'public'>): boolean {
  switch (access) {
    case 'viewer':
      return true;
    case 'admin':
      return caller.role === 'admin';
  }
}
