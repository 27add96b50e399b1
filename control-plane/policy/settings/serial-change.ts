/**
 * A change of the configuration in two steps: other changes must wait while the change is stored, but not while it is
 * applied.
 */
import type { Author } from '../../api/caller.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../change/change.ts';

/** Steps of a change. */
export interface TurnedChange {
  /** Runs in the transaction. */
  readonly work: (tx: Queryable) => Promise<Changed<null>>;
  /** Called when the change is stored. */
  readonly stored: () => void;
  /** Activates the change; by default only calls `apply`. */
  readonly follow?: (apply: () => Promise<void>) => Promise<void>;
  /** Called if the change could not be stored. */
  readonly failed?: () => Promise<void>;
}

/** Another change of policy that is stored together with one of the configuration. */
export interface ChangeTogether {
  /** Runs in the transaction, before the keys are written; it may run again. */
  readonly work: (tx: Queryable) => Promise<Changed<null>>;
  /** Called when both changes are stored. */
  readonly follow: (apply: () => Promise<void>) => Promise<void>;
}

/** Joins two changes to one, with the summary of the first. */
export function joinedChanges(first: Changed<null>, second: Changed<null>): Changed<null> {
  const outside = [...(first.outside ?? []), ...(second.outside ?? [])];
  return { result: null, summary: first.summary ?? second.summary, outside };
}

/** A stored change that is being applied. */
export interface Activation {
  /**
   * Settles when the change is active. The promise is wrapped in an object, so that returning it from an async function
   * does not await it.
   */
  readonly isActive: Promise<void>;
}

/** Resolves when the change is stored. */
export async function storeChange(
  policy: PolicyChanges,
  author: Author,
  { work, stored, failed, follow }: TurnedChange,
): Promise<Activation> {
  const isStored = Promise.withResolvers<undefined>();
  const change = policy.change(author, work, async (_result, apply) => {
    stored();
    isStored.resolve(undefined);
    await (follow === undefined ? apply() : follow(apply));
  });
  change.catch(isStored.reject);
  try {
    await isStored.promise;
  } catch (error) {
    await failed?.();
    throw error;
  }
  return { isActive: change.then(() => undefined) };
}
