/** Writes many rules, one after the other, and tells how far it is. */
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';

/** What came of it so far. */
export interface Written {
  readonly added: number;
  /** Were there: somebody else was faster. */
  readonly there: number;
  readonly failed: readonly { readonly domain: string; readonly error: unknown }[];
  /** The first and the last revision that it made; null = none. */
  readonly revisions: { readonly first: number; readonly last: number } | null;
}

/** Before the first. */
export const NOTHING: Written = { added: 0, there: 0, failed: [], revisions: null };

/** How many are done. */
export function doneOf({ added, there, failed }: Written): number {
  return added + there + failed.length;
}

/** Whether nothing but these rules came in between, so that taking back takes back nothing else. */
export function canUndo({ added, revisions }: Written): boolean {
  return revisions !== null && revisions.last - revisions.first + 1 === added;
}

/**
 * Writes all, unless it is told to stop; each step is told. `write` answers with its revision, 0 = none. Ends where the
 * server cannot be reached or is overloaded: the rest would fail in the same way.
 */
export async function writeAll(
  domains: readonly string[],
  write: (domain: string) => Promise<number>,
  { isStopped, onStep }: { readonly isStopped: () => boolean; readonly onStep: (written: Written) => void },
): Promise<Written> {
  let written = NOTHING;
  for (const domain of domains) {
    if (isStopped()) break;
    try {
      const revision = await write(domain);
      const first = written.revisions?.first ?? revision;
      written = { ...written, added: written.added + 1, revisions: { first, last: revision } };
    } catch (error) {
      const status = error instanceof ApiFailure ? error.status : 0;
      written =
        status === 409
          ? { ...written, there: written.there + 1 }
          : { ...written, failed: [...written.failed, { domain, error }] };
      if (status === 0 || status === 429 || status >= 500) break;
    }
    onStep(written);
  }
  onStep(written);
  return written;
}
