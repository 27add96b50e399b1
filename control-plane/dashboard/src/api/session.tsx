/** The user of the page, and the rights that decide what the pages offer. */
import { createContext, useContext } from 'react';
import type { ReactNode } from 'react';
import type { Me } from './me.ts';

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
