/** The changes that a rollback undoes. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A change of policy. */
export type Revision = AnswerOf<'GET /revisions'>[number];

/** Requested target: the policy of one revision, or the policy before one. */
export interface Wish {
  readonly to?: number;
  readonly undo?: number;
}

/** A rollback, as it is asked about. */
export interface TakeBack {
  /** The revision whose policy is restored; null if the kept revisions do not go back that far. */
  readonly target: Revision | null;
  /** All changes by users that are undone, the newest first; those of Weir itself stay. */
  readonly going: readonly Revision[];
  /** The newest revision that is known here; a newer one must not go unseen. */
  readonly head: number;
}

/** The rollback that a wish requires, from revisions in any order. */
export function takeBackOf(revisions: readonly Revision[], { to, undo }: Wish): TakeBack {
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
