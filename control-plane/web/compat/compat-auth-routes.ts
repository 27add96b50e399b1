/**
 * The compatibility API's `/auth`: sessions of the authenticator in the format of that API. Without a session, the
 * response is a session object that contains the reason, never an error object, because clients detect the API by this
 * object.
 */
import { CompatSession } from '../../../shared/api/compat/compat-api.ts';
import type { ProblemCode } from '../../../shared/api/problem-details.ts';
import type { Clock } from '../../../shared/clock.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { IDLE_SECS } from '../auth/authenticator.ts';
import { newSessionSecret } from '../auth/sessions/session-secret.ts';
import type { CarriedSession, OpenedSession } from '../auth/sessions/sessions.ts';
import { codeIn, passwordIn } from './compat-body.ts';
import { CompatFault } from './compat-error.ts';
import type { CompatAnswer, CompatRequest, CompatRoute } from './compat-route.ts';
import { DROP_COOKIE, keepCookie, noSession, type SessionBody, validSession } from './compat-session.ts';

type SessionAnswer = CompatAnswer<SessionBody>;

/** The routes of the session. */
export function compatAuthRoutes({ auth, clock }: { auth: Authenticator; clock: Clock }): CompatRoute[] {
  const row = { path: '/auth', access: 'public', answer: CompatSession } as const;
  return [
    { ...row, method: 'GET', handle: (request) => readSession(auth, clock, request) },
    { ...row, method: 'POST', handle: (request) => openSession(auth, clock, request) },
    { ...row, method: 'DELETE', handle: (request) => endSession(auth, request) },
  ];
}

async function readSession(
  auth: Authenticator,
  clock: Clock,
  request: CompatRequest,
): Promise<SessionAnswer> {
  if (isOpen(auth)) return { status: 200, body: noSession('no password set', false, true) };
  const session = await auth.sessions.of(request.secrets);
  if (session !== null) return toCompatSession(auth, clock, request, session, 'correct password');
  return refused(auth, await whyNone(auth, request));
}

async function openSession(
  auth: Authenticator,
  clock: Clock,
  request: CompatRequest,
): Promise<SessionAnswer> {
  const password = passwordIn(request.body);
  if (isOpen(auth)) return openToAll(password);
  const current = await auth.sessions.of(request.secrets);
  if (password === '') {
    // No account has an empty password, so an empty password is not counted as a failed login.
    return current === null
      ? refused(auth, 'password incorrect')
      : toCompatSession(auth, clock, request, current, 'correct password');
  }
  const opened = await tryPassword(auth, password, request);
  if (typeof opened !== 'string') return toCompatSession(auth, clock, request, opened, 'password correct');
  return current === null ? refused(auth, opened) : toCompatSession(auth, clock, request, current, opened);
}

async function endSession(auth: Authenticator, request: CompatRequest): Promise<CompatAnswer> {
  if (auth.openCaller() !== null) return { status: 204, body: null, headers: DROP_COOKIE };
  const session = await auth.sessions.of(request.secrets);
  if (session === null) return refused(auth, await whyNone(auth, request));
  await auth.sessions.endOf(session.secret);
  return { status: 204, body: null, headers: DROP_COOKIE };
}

/** A new session, or the reason why there is none. */
async function tryPassword(
  auth: Authenticator,
  password: string,
  { body, origin }: CompatRequest,
): Promise<OpenedSession | string> {
  try {
    return await auth.logInByPassword(password, codeIn(body), origin);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    refuseCode(error.code);
    return error.code === 'setup_required' ? error.message : 'password incorrect';
  }
}

/** The password was correct, but the code was not: the errors differ from that for a wrong password. */
function refuseCode(code: ProblemCode): void {
  if (code === 'second_factor_required')
    throw new CompatFault(400, 'bad_request', 'No 2FA token found in JSON payload');
  if (code === 'second_factor_wrong') throw new CompatFault(401, 'unauthorized', 'Invalid 2FA token');
  if (code === 'second_factor_used')
    throw new CompatFault(401, 'unauthorized', 'Reused 2FA token', 'wait for new token');
}

/**
 * If authentication is disabled, a password still gets a secret, because some clients cannot continue without one. The
 * secret has no session, so it never gives access to anything.
 */
function openToAll(password: string): SessionAnswer {
  if (password === '') return { status: 200, body: noSession('no password set', false, true) };
  const secret = newSessionSecret();
  const given = { secret, validitySecs: IDLE_SECS, message: 'password correct', totp: false };
  return { status: 200, body: validSession(given) };
}

async function toCompatSession(
  auth: Authenticator,
  clock: Clock,
  { hiddenSecrets, isSecure }: CompatRequest,
  carried: OpenedSession | CarriedSession,
  message: string,
): Promise<SessionAnswer> {
  const { secret, session } = carried;
  const validitySecs = (session.expiresAt.getTime() - clock.nowMs()) / 1000;
  const isHidden = hiddenSecrets.includes(secret);
  return {
    status: 200,
    body: validSession({ secret, isHidden, validitySecs, message, totp: await auth.asksAdminForCode() }),
    headers: keepCookie(carried, isSecure),
  };
}

async function refused(auth: Authenticator, message: string): Promise<SessionAnswer> {
  return { status: 401, body: noSession(message, await auth.asksAdminForCode()), headers: DROP_COOKIE };
}

async function whyNone(auth: Authenticator, { isSidSent }: CompatRequest): Promise<string> {
  const { message, code } = await auth.refusal();
  if (code === 'setup_required') return message;
  return isSidSent ? 'session unknown' : 'no SID provided';
}

function isOpen(auth: Authenticator): boolean {
  return auth.openCaller() !== null;
}
