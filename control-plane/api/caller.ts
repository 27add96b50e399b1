/** Who sent a request, as the guard found out and handlers are told. */
import type { Role } from '../../shared/api/auth-api.ts';

/** The caller of a request. */
export interface Caller {
  readonly username: string;
  readonly role: Role;
  /** Id of the session; null if authentication is off. */
  readonly sessionId: number | null;
}
