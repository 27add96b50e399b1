/**
 * Grants: names that a client, a group or everyone may, or may not, query (contract: decision order). Grants are
 * checked before the group's schedule. A blocking grant answers according to `blocking.mode`, even for local names. An
 * allowing grant bypasses all blocking, as `AllowAll` does (`isFreed`), but this server still answers its own names.
 *
 * choice: while blocking is disabled, no grant and no schedule blocks.
 */
import { ExtendedError } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { EVERY_NAME } from '../policy/grant-table.ts';
import type { MatchRecorder } from '../policy/policy-matcher.ts';
import { NOT_FOUND } from '../policy/name-table.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerBlocked } from '../respond/block-answer.ts';

/** Blocks the query, or records the time until which nothing may block it. */
export function grantsStage(
  query: Query,
  { grants, policy }: OpenSnapshot,
  recorder: MatchRecorder | null,
): StageResultCode {
  if (grants.size === 0) return StageResult.CONTINUE;
  query.grantEndsAtSecs = 0;
  const number = grants.find(query);
  if (number === NOT_FOUND) return StageResult.CONTINUE;
  const { id, isAllowing, endsAtSecs } = grants.grant(number);
  const { label } = grants;
  recorder?.met(RuleOrigin.GRANT, id, 0, query, label);
  if (!isAllowing && !policy.blockingEnabled) return StageResult.CONTINUE;
  // Clients must not cache an answer beyond the end of the grant.
  query.grantEndsAtSecs = endsAtSecs;
  if (isAllowing) return StageResult.CONTINUE;
  query.status = QueryStatus.BLOCKED_MANAGED;
  query.ruleOrigin = RuleOrigin.GRANT;
  query.ruleAttribute = id + 1;
  query.ruleNameOffset = label === EVERY_NAME ? 0 : query.labelAt[label]!;
  query.ruleKind = 0;
  query.discardAnswer();
  answerBlocked(query, policy, ExtendedError.FILTERED);
  return StageResult.ANSWERED;
}
