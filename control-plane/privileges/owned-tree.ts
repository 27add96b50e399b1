/** Whether all files of a data directory belong to one user. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The first file below `folder`, or it itself, that belongs to another user; undefined if there is none. Follows no link.
 * A file with several names does not count: PostgreSQL's programs are hard links to those of the release.
 */
export function firstForeign(folder: string, uid: number): string | undefined {
  const state = lstatSync(folder, { throwIfNoEntry: false });
  if (state === undefined) return undefined;
  if (!state.isDirectory()) return state.uid === uid || state.nlink > 1 ? undefined : folder;
  if (state.uid !== uid) return folder;
  for (const name of readdirSync(folder)) {
    const found = firstForeign(join(folder, name), uid);
    if (found !== undefined) return found;
  }
  return undefined;
}
