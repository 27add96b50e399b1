/** The caller of a request, which the guard determines and passes to handlers, and the author of a change. */
import type { Role } from '../../shared/api/auth-api.ts';
import type { Precondition } from './entity.ts';

/** The caller of a request: a user, or an API token. */
export interface Caller {
  /** Name of the user; for a token, `token ` followed by its name. User names cannot contain a space. */
  readonly username: string;
  readonly role: Role;
  /** Null for a token. */
  readonly userId: number | null;
  /** Null for a user. */
  readonly tokenId: number | null;
  /** Id of the session; null for a request with a token, or if authentication is disabled. */
  readonly sessionId: number | null;
  /** Clients that an admin has linked to a user of the role family; null for all other callers. */
  readonly clientIds: readonly number[] | null;
}

/** Author of a change. */
export interface Author {
  /** A user name or the name of a token; `system` for Weir itself. */
  readonly name: string;
  /** Address from which the request came; null = the change was not requested over the network. */
  readonly address: string | null;
  /** Called with the id of the change's revision. */
  readonly onRevision?: (id: number) => void;
  /**
   * Runs first in the transaction of the change. Throws 412 if the state of the entity differs from the state that the
   * request expects.
   */
  readonly precondition?: Precondition;
}

/** Weir itself. */
export const SYSTEM: Author = { name: 'system', address: null };
