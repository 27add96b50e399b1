/**
 * Blocks private addresses in answers of the pools, unless the name is exempt. Cached answers are checked like new
 * answers, because exemptions may change. Names of forward zones and local records may have any address; every name may
 * have any address while a grant or the group's schedule allows everything. The stage does not depend on
 * `blocking.enabled`, because no list is involved.
 *
 * choice: NODATA, regardless of `blocking.mode`. A substitute such as 0.0.0.0 reaches the machine itself on many
 * systems; NODATA makes no false statement about other types of the name.
 */
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import { NOT_FOUND } from '../policy/name-table.ts';
import { StageResult, type Query, type StageResultCode } from '../query/query.ts';
import { answerNegative } from '../respond/block-answer.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { isFreed } from '../policy/freed-query.ts';

/** Replaces the answer in the slot if it must not be sent. */
export function rebindingStage(query: Query, { rebinding, policy }: OpenSnapshot): StageResultCode {
  if (!query.hasPrivateAddress || query.partition !== POOLS_PARTITION || !rebinding.isOn)
    return StageResult.CONTINUE;
  if (isFreed(query, policy)) return StageResult.CONTINUE;
  if (rebinding.exempt.findSuffix(query) !== NOT_FOUND) return StageResult.CONTINUE;
  query.status = QueryStatus.BLOCKED_REBIND;
  query.discardAnswer();
  query.extendedError = ExtendedError.BLOCKED;
  answerNegative(query, Rcode.NOERROR, policy.blockingTtlSecs);
  return StageResult.ANSWERED;
}
