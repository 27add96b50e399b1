/** The user of the page, and the rights that decide what the pages offer. */
import { createContext, useContext } from 'react';
import type { ReactNode } from 'react';
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

const MeContext = createContext<Me>({ username: null, isAdmin: false, isFamily: false });

/** Provides the user to all components inside it. */
export function MeProvider({ me, children }: { readonly me: Me; readonly children: ReactNode }): ReactNode {
  return <MeContext value={me}>{children}</MeContext>;
}

/** The user of the page. */
export function useMe(): Me {
  return useContext(MeContext);
}

/** Shows its children to administrators only. */
export function ForAdmins({ children }: { readonly children: ReactNode }): ReactNode {
  return useMe().isAdmin ? children : null;
}

/** The user according to the server; null if a login is needed. */
export function meOf(state: AuthState): Me | null {
  if (!state.enabled) return { username: null, isAdmin: true, isFamily: false };
  if (state.session === null) return null;
  const { username, role } = state.session;
  return { username, isAdmin: role === 'admin', isFamily: role === 'family' };
}
