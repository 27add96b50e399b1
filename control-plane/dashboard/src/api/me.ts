/** The user of the page, as the server describes it. */
import type { AnswerOf } from '../../../../shared/api/client/typed-client.ts';

/** Login settings of the server, and this session. */
export type AuthState = AnswerOf<'GET /auth/status'>;

/** The user of the page. */
export interface Me {
  /** Null if login is disabled. */
  readonly username: string | null;
  /** Whether the user may make changes. Controls for changes are hidden from viewers. */
  readonly isAdmin: boolean;
  /** Whether the user has the role family, which sees one page with its own devices. */
  readonly isFamily: boolean;
}

/** The user according to the server; null if a login is needed. */
export function meOf(state: AuthState): Me | null {
  if (!state.enabled) return { username: null, isAdmin: true, isFamily: false };
  if (state.session === null) return null;
  const { username, role } = state.session;
  return { username, isAdmin: role === 'admin', isFamily: role === 'family' };
}
