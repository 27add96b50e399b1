/** The changes that a rollback undoes. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A change of policy. */
export type Revision = AnswerOf<'GET /revisions'>[number];

/** Requested rollback: to the policy of a revision, or to the policy before a revision. */
export interface RollbackTarget {
  readonly to?: number;
  readonly undo?: number;
}

/** A rollback that the user is asked to confirm. */
export interface UndoPlan {
  /** The revision whose policy is restored; null if it is no longer stored. */
  readonly target: Revision | null;
  /** Changes by users that the rollback undoes, newest first. Changes by Weir itself are kept. */
  readonly going: readonly Revision[];
  /** Id of the newest revision that the page knows. If there is a newer revision, the rollback is refused. */
  readonly head: number;
}

/** The rollback for a requested target; `revisions` can be in any order. */
export function undoPlanOf(revisions: readonly Revision[], { to, undo }: RollbackTarget): UndoPlan {
  const newestFirst = revisions.toSorted((one, other) => other.id - one.id);
  const target = newestFirst.find(({ id }) => (undo === undefined ? id === to : id < undo)) ?? null;
  const isOwn = newestFirst.some((revision) => revision.id === undo && revision.is_own);
  const goes = (revision: Revision): boolean =>
    target !== null && revision.id > target.id && !revision.is_own;
  return {
    target,
    going: isOwn ? [] : newestFirst.filter(goes),
    head: newestFirst[0]?.id ?? 0,
  };
}
