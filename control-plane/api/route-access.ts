/**
 * Who may call what. Each route names one access, and a role may do what is written here: an access that a role is not
 * listed for is denied.
 */
import type { Role } from '../../shared/api/auth-api.ts';
import type { Caller } from './caller.ts';

/**
 * The right that a route needs. `public`: nothing. `member`: any role, for the objects of the caller. `family`:
 * the right to pause and grant for linked devices. `viewer`: the right to read everything. `admin`: all rights.
 */
export type Access = 'public' | 'member' | 'family' | 'viewer' | 'admin';

const MAY: Readonly<Record<Exclude<Access, 'public'>, readonly Role[]>> = {
  member: ['admin', 'family', 'viewer'],
  family: ['admin', 'family'],
  viewer: ['admin', 'viewer'],
  admin: ['admin'],
};

/** The roles that an access is for. */
export function rolesOf(access: Exclude<Access, 'public'>): readonly Role[] {
  return MAY[access];
}

/** Whether a caller has the right. */
export function mayCall(caller: Pick<Caller, 'role'> | null, access: Exclude<Access, 'public'>): boolean {
  return caller !== null && MAY[access].includes(caller.role);
}

/** The clients that a caller is limited to; null = all. */
export function clientsOf(caller: Pick<Caller, 'role' | 'clientIds'> | null): ReadonlySet<number> | null {
  if (caller === null || caller.role !== 'family') return null;
  return new Set(caller.clientIds ?? []);
}
