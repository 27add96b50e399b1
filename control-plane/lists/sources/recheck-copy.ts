/**
 * Checks stored copies again if another release has checked them, before this release activates them: the parser of
 * that release may have rejected lines that this one reads as rules for every name. Such a copy becomes a held update,
 * even for custom rules. It is inactive until a user approves it, because this release cannot read it as before.
 */
import { codedAction } from '../../../shared/policy/changes/change-codes.ts';
import { conflict } from '../../api/api-error.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../storage/db/database.ts';
import { CompileError, type CompilePool } from '../../policy/compile/table/compile-pool.ts';
import type { ListInspection } from '../../policy/compile/table/compile-job.ts';
import { inputKeyOf } from '../../policy/compile/table/input-key.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import { readingOf } from './list-compiler.ts';
import { holdText, isChecked, findingsOf, reasonToHoldAgain, reasonToShowAgain } from './list-guard.ts';
import type { GuardedCopy } from './list-guard.ts';
import type { RefusedCopies } from './refused-copies.ts';
import { writeContent } from './source-records.ts';
import { type CheckFindings, recordFacts, type SourceFacts, type StoredSource } from './source-store.ts';

/** Dependencies of the check. */
export interface RecheckParts {
  readonly cache: Pick<ListCache, 'discard'>;
  readonly database: Database;
  readonly pool: Pick<CompilePool, 'inspect'>;
  readonly refused: Pick<RefusedCopies, 'add'>;
  readonly logger: Logger;
  readonly changes: Pick<PolicyChanges, 'record'>;
}

/** Data about a copy for the guard, without the names that this network queries. */
export function widthOf({ statistics, forEveryName, addressShare }: ListInspection): GuardedCopy {
  return { rules: statistics.rules, blocked: [], allowed: [], forEveryName, addressShare };
}

/** Whether a source has a copy that this release has not checked yet. */
export function needsRecheck({ enabled, contentKey, judged }: StoredSource): boolean {
  return enabled && contentKey !== null && !isChecked(judged, contentKey);
}

/**
 * The content key of a source's held update that a user approves. An older release may have held it; if this release
 * finds more rules for every name in it, throws 409, and the new result is shown to users. May throw a CompileError.
 */
export async function recheckApproved(
  source: StoredSource,
  { contentKey, path }: ListCopy,
  { database, pool }: Pick<RecheckParts, 'database' | 'pool'>,
): Promise<CheckFindings> {
  const next = await pool.inspect({ path, reading: readingOf(source) }, []);
  const held = reasonToShowAgain(source.held, widthOf(next));
  if (held === null) return findingsOf(contentKey, next);
  const shown = { ...held, rules_in_force: source.held?.rules_in_force ?? 0 };
  const reason = holdText(shown);
  await recordFacts(
    database,
    source.id,
    source.url,
    { lastError: reason, heldKey: contentKey, held: shown },
    source,
  );
  throw conflict(
    `${source.kind}list source ${source.id} is interpreted differently than when its update was held; ${reason}`,
  );
}

/**
 * Checks the copy in the row of a source, and stores the result, unless the row has changed. A copy that cannot be
 * read, or not within the time limit, is rejected on this node.
 */
export async function recheckCopy(source: StoredSource, copy: ListCopy, parts: RecheckParts): Promise<void> {
  const { cache, changes, database, logger, pool, refused } = parts;
  const { id, name } = source;
  const { contentKey, path } = copy;
  const reading = readingOf(source);
  const refuse = (reason: string): void => refused.add(id, inputKeyOf(id, contentKey, reading), reason);
  let next: ListInspection;
  try {
    next = await pool.inspect({ path, reading }, []);
  } catch (error) {
    if (!(error instanceof CompileError) || error.list === null) throw error;
    refuse(error.message);
    return;
  }
  const { fault } = next.statistics;
  if (fault?.code === 'unreadable') await cache.discard(id, path);
  else if (fault !== null) refuse(fault.message);
  if (fault !== null) return;
  const held = reasonToHoldAgain(source.judged, widthOf(next));
  if (held === null) {
    await recordFacts(database, id, source.url, { judged: findingsOf(contentKey, next) }, source);
    return;
  }
  const reason = holdText(held);
  const facts: SourceFacts = {
    status: 'held',
    lastError: reason,
    contentKey: null,
    heldKey: contentKey,
    held,
  };
  const work = (tx: Parameters<typeof writeContent>[0]): Promise<Changed<boolean>> =>
    writeContent(tx, source, facts, codedAction('held'));
  if (await changes.record(work)) logger.warn('list held for approval', { id, name, reason });
}
