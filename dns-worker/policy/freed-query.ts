/** Whether a query is exempt from all filtering: by a grant, or by the schedule of its client's group. */
import { GroupOverride, type PolicyTable } from '../../shared/snapshot/policy-table.ts';
import type { Query } from '../query/query.ts';

/** If true, nothing blocks the query: safe search and the checks of answers do not apply either. */
export function isFreed(query: Query, policy: PolicyTable): boolean {
  return query.grantEndsAtSecs !== 0 || policy.groupOverride(query.groupIndex) === GroupOverride.AllowAll;
}
