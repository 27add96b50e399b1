/** Who sent a request, as the guard found out and handlers are told; and who a change is by. */
import type { Role } from '../../shared/api/auth-api.ts';

/** The caller of a request. */
export interface Caller {
  readonly username: string;
  readonly role: Role;
  /** Id of the session; null if authentication is off. */
  readonly sessionId: number | null;
}

/** Who makes a change. */
export interface Author {
  /** A user name or the name of a token; `system` for Weir itself. */
  readonly name: string;
  /** Where the request came from; null = not from the network. */
  readonly address: string | null;
}

/** Weir itself. */
export const SYSTEM: Author = { name: 'system', address: null };
