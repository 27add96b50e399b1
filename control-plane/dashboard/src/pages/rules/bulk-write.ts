/** Writes many rules with one request, or with several if one request cannot contain all of them. */
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';

/** Maximum number of rules in a request. */
export const MAX_AT_ONCE = 10_000;

/** Progress of the writes. */
export interface Written {
  readonly added: number;
  /** Number of rules that already existed. */
  readonly there: number;
  /** Revisions that the requests made. */
  readonly revisions: readonly number[];
  /** Number of rules that were not written, and the error; null if all rules were written. */
  readonly failed: { readonly count: number; readonly error: unknown } | null;
}

export const NOTHING: Written = { added: 0, there: 0, revisions: [], failed: null };

/** Writes rules for these domains; returns the revision, or 0 if the request made none. */
export type WriteRules = (domains: readonly string[]) => Promise<number>;

/** Whether the revisions are consecutive, so that a rollback undoes no other change. */
export function canUndo({ revisions }: Written): boolean {
  return revisions.length > 0 && revisions.at(-1)! - revisions[0]! + 1 === revisions.length;
}

/** Writes all rules; stops at the first failed request. */
export async function writeAll(domains: readonly string[], write: WriteRules): Promise<Written> {
  let written = NOTHING;
  for (let start = 0; start < domains.length; start += MAX_AT_ONCE) {
    const part = domains.slice(start, start + MAX_AT_ONCE);
    try {
      const { added, revision } = await writeNew(part, write);
      written = {
        ...written,
        added: written.added + added,
        there: written.there + part.length - added,
        revisions: revision === 0 ? written.revisions : [...written.revisions, revision],
      };
    } catch (error) {
      return { ...written, failed: { count: domains.length - start, error } };
    }
  }
  return written;
}

/**
 * Sends a refused request again without the rules that already exist; the server reports these rules by their index.
 */
async function writeNew(
  domains: readonly string[],
  write: WriteRules,
): Promise<{ added: number; revision: number }> {
  try {
    return { added: domains.length, revision: await write(domains) };
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 409) throw error;
    const there = new Set(error.problem?.errors?.map(({ path }) => Number(path.split('.')[1])));
    const others = domains.filter((_domain, place) => !there.has(place));
    if (others.length === domains.length) throw error;
    if (others.length === 0) return { added: 0, revision: 0 };
    return { added: others.length, revision: await write(others) };
  }
}
