/** What people and programs may do, the least first. */
export const ROLES = ['viewer', 'admin'] as const;
export type Role = (typeof ROLES)[number];
