/** Whether everything may pass a query: by a grant, or by the schedule of its client's group. */
import { GroupOverride, type PolicyTable } from '../../shared/snapshot/policy-table.ts';
import type { Query } from '../query/query.ts';

/** Nothing blocks such a query: safe search and the checks of answers neither. */
export function isFreed(query: Query, policy: PolicyTable): boolean {
  return query.grantEndsAtSecs !== 0 || policy.groupOverride(query.groupIndex) === GroupOverride.AllowAll;
}
