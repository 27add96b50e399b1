/**
 * The override of the group's schedule (contract: decision order). `BlockAll` answers every query, even for local
 * names, according to `blocking.mode`; `AllowAll` bypasses all blocking: services, rules, lists, safe search, and the
 * checks of answers.
 */
import { ExtendedError } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { GroupOverride } from '../../shared/snapshot/policy-table.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerBlocked } from '../respond/block-answer.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { isFreed } from '../policy/freed-query.ts';

/** Blocks the query, or records whether anything may block it. */
export function scheduleOverrideStage(query: Query, { policy }: OpenSnapshot): StageResultCode {
  query.isUnfiltered = !policy.blockingEnabled || isFreed(query, policy);
  if (query.isUnfiltered || policy.groupOverride(query.groupIndex) !== GroupOverride.BlockAll)
    return StageResult.CONTINUE;
  query.status = QueryStatus.BLOCKED_SCHEDULE;
  query.discardAnswer();
  answerBlocked(query, policy, ExtendedError.FILTERED);
  return StageResult.ANSWERED;
}

/** The name of the override, for explanations. */
export function overrideDetail({ groupIndex }: Query, { policy }: OpenSnapshot): string {
  const override = policy.groupOverride(groupIndex);
  const name = Object.entries(GroupOverride).find(([, code]) => code === override)?.[0] ?? 'None';
  return policy.blockingEnabled ? name : `${name}; blocking is disabled`;
}
