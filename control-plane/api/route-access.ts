/**
 * Access rights of the roles. Each route requires one kind of access; roles that are not listed for this access are
 * denied.
 */
import type { Role } from '../../shared/api/auth-api.ts';
import type { Caller } from './caller.ts';

/**
 * The right that a route requires. `public`: no right. `member`: any role, for the caller's own objects. `family`: the
 * right to pause and to create grants for linked devices. `viewer`: the right to read everything. `admin`: all rights.
 */
export type Access = 'public' | 'member' | 'family' | 'viewer' | 'admin';

const MAY: Readonly<Record<Exclude<Access, 'public'>, readonly Role[]>> = {
  member: ['admin', 'family', 'viewer'],
  family: ['admin', 'family'],
  viewer: ['admin', 'viewer'],
  admin: ['admin'],
};

/** The roles with this access. */
export function rolesOf(access: Exclude<Access, 'public'>): readonly Role[] {
  return MAY[access];
}

/** Whether a caller has the access. */
export function mayCall(caller: Pick<Caller, 'role'> | null, access: Exclude<Access, 'public'>): boolean {
  return caller !== null && MAY[access].includes(caller.role);
}

/** The clients to which a caller is limited; null = all clients. */
export function clientsOf(caller: Pick<Caller, 'role' | 'clientIds'> | null): ReadonlySet<number> | null {
  if (caller === null || caller.role !== 'family') return null;
  return new Set(caller.clientIds ?? []);
}
