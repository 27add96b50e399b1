/** Sessions as shown by the compatibility API, and their cookie. */
import type { CompatSession, Untimed } from '../../../shared/api/compat/compat-api.ts';
import type { CarriedSession } from '../auth/sessions/sessions.ts';
import { csrfTokenOf } from '../auth/sessions/session-secret.ts';

/** A session in a response. */
export type SessionBody = Untimed<CompatSession>;

/** Data for the description of a session. */
export interface ShownSession {
  readonly secret: string;
  /** Whether the response must not contain the secret. */
  readonly isHidden?: boolean;
  readonly validitySecs: number;
  readonly message: string;
  /** Whether logins of the administrator need a code. */
  readonly totp: boolean;
}

/** A session that is valid. */
export function validSession({
  secret,
  isHidden = false,
  validitySecs,
  message,
  totp,
}: ShownSession): SessionBody {
  const session = {
    valid: true as const,
    totp,
    sid: isHidden ? null : secret,
    csrf: csrfTokenOf(secret),
    // At least 1, because expired sessions are not shown.
    validity: Math.max(1, Math.floor(validitySecs)),
    message,
  };
  return { session };
}

/** The response body without a session: the reason, and whether no session is needed (`valid`). */
export function noSession(message: string, totp: boolean, valid = false): SessionBody {
  return { session: { valid, totp, sid: null, validity: -1, message } };
}

/** Header fields that make the client keep a session that each use extends; none for other sessions. */
export function keepCookie(
  { secret, session }: Pick<CarriedSession, 'secret' | 'session'>,
  isSecure: boolean,
): Record<string, string> {
  if (session.idleSecs === null) return {};
  const attributes = `SameSite=Lax; Path=/; Max-Age=${session.idleSecs}; HttpOnly${isSecure ? '; Secure' : ''}`;
  return { 'Set-Cookie': `sid=${secret}; ${attributes}` };
}

/** Header fields that delete the cookie. */
export const DROP_COOKIE: Readonly<Record<string, string>> = {
  'Set-Cookie': 'sid=deleted; SameSite=Lax; Path=/; Max-Age=-1; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
};
