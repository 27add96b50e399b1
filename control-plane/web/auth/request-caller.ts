/** Sender of a request: its session or API token, or any client if authentication is disabled; and its address. */
import type { Request } from 'express';
import type { Caller } from '../../api/caller.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { clientAddress } from '../../api/client-address.ts';
import { isLocal, LOCAL_CALLER } from '../../api/local-requests.ts';
import type { Authenticator } from './authenticator.ts';
import type { LoginOrigin } from './sessions/sessions.ts';
import { sessionSecretsOf } from './session-cookie.ts';

/** The caller of a request; null for an unknown caller. Throws DatabaseUnavailable if a session cannot be looked up. */
export async function callerOf(auth: Authenticator, request: Request): Promise<Caller | null> {
  if (isLocal(request)) return LOCAL_CALLER;
  const open = auth.openCaller();
  if (open !== null) return open;
  return auth.callerOf({ secrets: sessionSecretsOf(request), key: apiKeyOf(request) });
}

/** The key of an API token: `X-Api-Key`, or `Authorization: Bearer` (RFC 6750 section 2.1); null without one. */
function apiKeyOf({ headers }: Request): string | null {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return key;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** The caller of a request that needs no login; also null if the database is unavailable. */
export async function callerIfKnown(auth: Authenticator, request: Request): Promise<Caller | null> {
  try {
    return await callerOf(auth, request);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  }
}

/** Address and browser of a login. */
export function loginOriginOf(request: Request): LoginOrigin {
  const agent = request.headers['user-agent'];
  // Header fields are Latin-1; unprintable characters are removed.
  const userAgent = agent === undefined ? null : agent.replace(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, 512);
  return { address: clientAddress(request), userAgent };
}
