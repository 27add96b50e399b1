/** HTTP of `{api}/auth/*`; the authenticator decides. */
import type { Request } from 'express';
import type {
  AuthStatus,
  ChangePasswordBody,
  LoginAnswer,
  LoginBody,
  Session,
  SetupBody,
} from '../../shared/api/auth-api.ts';
import type { IdParams } from '../../shared/api/fields.ts';
import type { ApiContext } from '../api/api-context.ts';
import { clientAddress, isOnThisMachine } from '../api/client-address.ts';
import type { RouteRequest } from '../api/route.ts';
import { clearSessionCookie, sessionSecretOf, setSessionCookie } from './session-cookie.ts';
import type { LoginOrigin } from './authenticator.ts';

/** GET auth/status */
export function readAuthStatus(context: ApiContext): Promise<AuthStatus> {
  return context.auth.status();
}

/** POST auth/setup */
export async function setUpPassword(
  context: ApiContext,
  { body, http }: RouteRequest<unknown, unknown, SetupBody>,
): Promise<void> {
  const sender = { isLocal: isOnThisMachine(http), address: clientAddress(http), setupCode: body.setup_code };
  await context.auth.setUp(body.password, sender);
}

/** POST auth/login */
export async function logIn(
  context: ApiContext,
  { body, http, response }: RouteRequest<unknown, unknown, LoginBody>,
): Promise<LoginAnswer> {
  const attempt = { username: body.username, password: body.password, rememberMe: body.remember_me };
  const { secret, session } = await context.auth.logIn(attempt, originOf(http));
  setSessionCookie(http, response, secret, session.rememberMe ? session.expiresAt : undefined);
  return { username: session.username, role: session.role, expires_at: session.expiresAt.toISOString() };
}

/** POST auth/logout */
export async function logOut(context: ApiContext, { http, response }: RouteRequest): Promise<void> {
  const secret = sessionSecretOf(http);
  clearSessionCookie(http, response);
  if (secret !== undefined) await context.auth.logOut(secret);
}

/** POST auth/change-password */
export async function changePassword(
  context: ApiContext,
  { body, caller, http }: RouteRequest<unknown, unknown, ChangePasswordBody>,
): Promise<void> {
  const passwords = { current: body.current_password, next: body.new_password };
  await context.auth.changePassword(caller!, passwords, originOf(http));
}

/** GET auth/sessions */
export async function listSessions(context: ApiContext, { caller }: RouteRequest): Promise<Session[]> {
  const sessions = await context.auth.listSessions();
  return sessions.map((session) => ({
    id: session.id,
    username: session.username,
    role: session.role,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    remember_me: session.rememberMe,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    current: session.id === caller?.sessionId,
  }));
}

/** DELETE auth/sessions/{id} */
export async function revokeSession(
  context: ApiContext,
  { params, caller, http, response }: RouteRequest<IdParams>,
): Promise<void> {
  await context.auth.revokeSession(params.id);
  if (caller?.sessionId === params.id) clearSessionCookie(http, response);
}

function originOf(http: Request): LoginOrigin {
  const agent = http.headers['user-agent'];
  // Header fields are Latin-1 here; unprintable characters are dropped.
  const userAgent = agent === undefined ? null : agent.replace(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, 512);
  return { address: clientAddress(http), userAgent };
}
