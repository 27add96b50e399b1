/** HTTP routes of `{api}/auth/*`; `authenticator.ts` makes all decisions. */
import {
  AuthStatus,
  ChangePasswordBody,
  LoginAnswer,
  LoginBody,
  Session,
  SessionList,
  SetupBody,
} from '../../../shared/api/auth-api.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import { notFound } from '../../api/api-error.ts';
import type { Caller } from '../../api/caller.ts';
import { clientAddress, isOnThisMachine } from '../../api/client-address.ts';
import { readOnlyEntity } from '../../api/entity.ts';
import type { Entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Authenticator } from './authenticator.ts';
import { codeIn } from './given-proof.ts';
import { loginOriginOf } from './request-caller.ts';
import type { StoredSession } from './sessions/session-store.ts';
import { clearSessionCookie, sessionSecretsOf, setSessionCookie } from './session-cookie.ts';

/** The routes of passwords and sessions. */
export function authRoutes({ auth }: { auth: Authenticator }): Route[] {
  const session = readOnlyEntity({
    path: '/auth/sessions/{id}',
    answer: Session,
  });
  return [
    readAuthStatus(auth),
    setUpPassword(auth),
    logIn(auth),
    logOut(auth),
    changePassword(auth),
    listSessions(auth),
    readSession(auth, session),
    revokeSession(auth, session),
  ];
}

function readAuthStatus(auth: Authenticator): Route {
  return route({
    method: 'GET',
    path: '/auth/status',
    access: 'public',
    tag: 'Authentication',
    summary: 'Whether authentication is enabled and a password is set, and the session of the request',
    answer: AuthStatus,
    handle: async ({ http }) => {
      const session = await auth.sessionIfKnown(sessionSecretsOf(http));
      const status = await auth.status();
      const needsCode = status.setup_required === true && !isOnThisMachine(http);
      const setupCodeFile = needsCode ? auth.setupCodeFile : null;
      return { ...status, setup_code_file: setupCodeFile, session: session && toLoginAnswer(auth, session) };
    },
  });
}

function setUpPassword(auth: Authenticator): Route {
  return route({
    method: 'POST',
    path: '/auth/setup',
    access: 'public',
    tag: 'Authentication',
    summary: 'Set the first password; requests from another machine need the setup code',
    body: SetupBody,
    errors: { 403: 'a password is already set, or the setup code is missing or wrong' },
    handle: async ({ body, http }) => {
      const sender = {
        isLocal: isOnThisMachine(http),
        address: clientAddress(http),
        setupCode: body.setup_code,
      };
      await auth.setUp(body.password, sender);
    },
  });
}

function logIn(auth: Authenticator): Route {
  return route({
    method: 'POST',
    path: '/auth/login',
    access: 'public',
    tag: 'Authentication',
    summary: 'Log in; the response sets the session cookie',
    body: LoginBody,
    answer: LoginAnswer,
    errors: {
      401: 'wrong credentials; if the error code is second_factor_required, repeat the request with a code',
      429: 'too many failed or concurrent logins; see Retry-After',
    },
    handle: async ({ body, http, response }) => {
      const { username: name, password, remember_me: rememberMe } = body;
      const attempt = { username: name, password, rememberMe, code: codeIn(body) };
      const { secret, session } = await auth.logIn(attempt, loginOriginOf(http));
      setSessionCookie(http, response, secret, session.rememberMe ? session.expiresAt : undefined);
      return toLoginAnswer(auth, session);
    },
  });
}

function toLoginAnswer(auth: Authenticator, session: StoredSession): LoginAnswer {
  const username = auth.sessions.nameOf(session);
  return { username, role: session.role, expires_at: session.expiresAt.toISOString() };
}

function logOut(auth: Authenticator): Route {
  return route({
    method: 'POST',
    path: '/auth/logout',
    access: 'public',
    tag: 'Authentication',
    summary: 'Log out: ends the session of the request',
    handle: async ({ http, response }) => {
      const secrets = sessionSecretsOf(http);
      clearSessionCookie(http, response);
      for (const secret of secrets) await auth.sessions.endOf(secret);
    },
  });
}

function changePassword(auth: Authenticator): Route {
  return route({
    method: 'POST',
    path: '/auth/change-password',
    access: 'member',
    tag: 'Authentication',
    summary:
      "Change the caller's password, also in the configuration file, and end the caller's other sessions",
    body: ChangePasswordBody,
    errors: {
      401: 'wrong password, or no valid session or token',
      409: 'the password is set in the configuration, which cannot be changed',
      429: 'too many failed or concurrent logins; see Retry-After',
    },
    handle: async ({ body, caller, http }) => {
      const passwords = { current: body.current_password, next: body.new_password };
      await auth.changePassword(caller!, passwords, loginOriginOf(http));
    },
  });
}

function listSessions(auth: Authenticator): Route {
  return route({
    method: 'GET',
    path: '/auth/sessions',
    access: 'member',
    tag: 'Authentication',
    summary: 'Active sessions: all for an admin, otherwise those of the caller',
    answer: SessionList,
    handle: async ({ caller }) => {
      const { sessions } = auth;
      const seen = (await sessions.list()).filter((session) => isOpenTo(caller, session));
      return seen.map((session) => toSession(session, sessions.nameOf(session), caller));
    },
  });
}

function readSession(auth: Authenticator, session: Entity): Route {
  return route({
    method: 'GET',
    path: '/auth/sessions/{id}',
    access: 'member',
    tag: 'Authentication',
    summary: 'One active session; only admins can read sessions of other users',
    params: IdParams,
    answer: Session,
    entity: session,
    handle: async ({ params, caller }) => {
      const { sessions } = auth;
      const found = (await sessions.list()).find(({ id }) => id === params.id);
      if (found === undefined || !isOpenTo(caller, found)) throw notFound(`session ${params.id}`);
      return toSession(found, sessions.nameOf(found), caller);
    },
  });
}

function toSession(session: StoredSession, username: string, caller: Caller | null): Session {
  return {
    id: session.id,
    username,
    role: session.role,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    remember_me: session.rememberMe,
    created_at: session.createdAt.toISOString(),
    last_seen: session.lastSeenAt.toISOString(),
    last_seen_at: session.lastSeenAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    current: session.id === caller?.sessionId,
  };
}

function revokeSession(auth: Authenticator, session: Entity): Route {
  return route({
    method: 'DELETE',
    path: '/auth/sessions/{id}',
    access: 'member',
    tag: 'Authentication',
    summary: 'End a session; only admins can end sessions of other users',
    params: IdParams,
    entity: session,
    handle: async (request) => {
      const { params, caller, http, response } = request;
      const mayEnd = (session: StoredSession): boolean => isOpenTo(caller, session);
      await auth.sessions.revoke(authorOf(request), params.id, mayEnd);
      if (caller?.sessionId === params.id) clearSessionCookie(http, response);
    },
  });
}

/** Whether a caller may see and end a session: admins may for all sessions, other callers only for their own. */
function isOpenTo(caller: Caller | null, { userId, tokenId }: StoredSession): boolean {
  if (caller?.role === 'admin') return true;
  return caller !== null && userId === caller.userId && tokenId === caller.tokenId;
}
