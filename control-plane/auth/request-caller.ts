/** Who sent a request: the session of its cookie, or anybody where authentication is off. */
import type { Request } from 'express';
import type { Caller } from '../api/caller.ts';
import { DatabaseUnavailable } from '../db/database-errors.ts';
import type { Authenticator } from './authenticator.ts';
import { sessionSecretOf } from './session-cookie.ts';

/** The caller of a request; null for a stranger. Throws DatabaseUnavailable where a session cannot be looked up. */
export async function callerOf(auth: Authenticator, request: Request): Promise<Caller | null> {
  const open = auth.openCaller();
  if (open !== null) return open;
  const secret = sessionSecretOf(request);
  // API tokens: `X-Api-Key` is ignored until there is a store of tokens.
  return secret === undefined ? null : auth.callerOf(secret);
}

/** The same for a request that need not be signed in: null also where no session can be looked up. */
export async function callerIfKnown(auth: Authenticator, request: Request): Promise<Caller | null> {
  try {
    return await callerOf(auth, request);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  }
}
