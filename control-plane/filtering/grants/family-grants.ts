/**
 * Rights of the role family for grants: its users can read, create and end grants for their linked clients, and grants
 * that they create last at most 36 hours.
 */
import { clientsOf } from '../../api/route-access.ts';
import { forbidden, notFound } from '../../api/api-error.ts';
import type { Caller } from '../../api/caller.ts';
import type { PolicyGrant } from '../../policy/change/rows.ts';
import type { Queryable } from '../../storage/db/database.ts';

/** Maximum duration of a grant by the role family: enough for "until tomorrow morning", even shortly after midnight. */
const MAX_MS = 36 * 3_600_000;

type Timed = {
  readonly clientId: number | null;
  readonly createdMs: number;
  readonly untilMs: number | null;
};

/** Whether a grant is for one of the clients in `own`; null = the caller may see all grants. */
export function isOwn({ clientId }: Pick<PolicyGrant, 'clientId'>, own: ReadonlySet<number> | null): boolean {
  return own === null || (clientId !== null && own.has(clientId));
}

/** An active grant that the caller may see; throws 404 if it does not exist. */
export function activeGrant(grants: readonly PolicyGrant[], id: number, caller: Caller | null): PolicyGrant {
  const grant = grants.find((one) => one.id === id);
  if (grant === undefined || !isOwn(grant, clientsOf(caller))) throw notFound(`grant ${id}`);
  return grant;
}

/** Rejects a grant that the role family must not create. @throws {ApiError} 403 */
export function refuseNewGrant(grant: Timed, own: ReadonlySet<number>): void {
  if (!isOwn(grant, own)) throw notLinked();
  const { createdMs, untilMs } = grant;
  if (untilMs === null) throw forbidden('grant_permanent');
  if (untilMs - createdMs > MAX_MS) throw forbidden('grant_too_long');
}

/** Rejects ending a permanent grant, which only an administrator may do. @throws {ApiError} 403 */
export function refuseEnding({ untilMs }: Pick<PolicyGrant, 'untilMs'>): void {
  if (untilMs === null) throw forbidden('grant_ended_by_admin');
}

/**
 * Locks the link between a user and a client until the transaction ends. Throws 403 if an administrator has removed the
 * link, or has given the user another role, since the request was authorized.
 */
export async function holdLink(tx: Queryable, caller: Caller | null, clientId: number): Promise<void> {
  const { rows } = await tx.query(
    `SELECT FROM users u JOIN user_clients l ON l.user_id = u.id
     WHERE u.id = $1 AND u.role = 'family' AND u.enabled AND l.client_id = $2 FOR SHARE`,
    [caller?.userId ?? null, clientId],
  );
  if (rows.length === 0) throw notLinked();
}

/** The error for a client that is not linked or does not exist; the caller cannot distinguish these cases. */
function notLinked(): Error {
  return forbidden('client_not_linked');
}
