/** What goes back with a rollback. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A change of policy. */
export type Revision = AnswerOf<'GET /revisions'>[number];

/** What somebody wants: the policy of one revision, or the policy before one. */
export interface Wish {
  readonly to?: number;
  readonly undo?: number;
}

/** A rollback, as it is asked about. */
export interface TakeBack {
  /** The revision whose policy comes back; null where the kept revisions do not go back that far. */
  readonly target: Revision | null;
  /** All that is taken back, the newest first. */
  readonly going: readonly Revision[];
  /** The newest revision that is known here; a newer one must not go unseen. */
  readonly head: number;
}

/** What a wish means for these revisions, in whatever order. */
export function takeBackOf(revisions: readonly Revision[], { to, undo }: Wish): TakeBack {
  const newestFirst = revisions.toSorted((one, other) => other.id - one.id);
  const target = newestFirst.find(({ id }) => (undo === undefined ? id === to : id < undo)) ?? null;
  return {
    target,
    going: target === null ? [] : newestFirst.filter(({ id }) => id > target.id),
    head: newestFirst[0]?.id ?? 0,
  };
}
