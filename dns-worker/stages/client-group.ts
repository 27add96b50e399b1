/** The group of the client: Default, until clients and subnets are known to the policy table. */
import { Verdict, type Query, type VerdictCode } from '../query.ts';
import type { OpenSnapshot } from '../state.ts';

/** Finds the client's group. */
export function clientGroupStage(query: Query, snapshot: OpenSnapshot): VerdictCode {
  query.groupIndex = 0;
  query.groupId = snapshot.policy.groupId(0);
  return Verdict.CONTINUE;
}
