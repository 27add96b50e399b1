/**
 * The names that AdGuard Home was queried for, according to its query log, if the upload contains it:
 * `data/querylog.json` and its predecessor.
 */
import { fileAt, type FileSet } from '../files/file-set.ts';

const FILES = ['querylog.json', 'querylog.json.1'];
/** Maximum number of bytes to read from the end of a log, where the newest queries are. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The name in a line of JSON: it needs no escapes. */
const NAME = /"QH":"([^"\\]{1,255})"/g;

/** Queries by name, in lower case; empty without a log. */
export function loggedNames(files: FileSet): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of FILES) {
    const content = fileAt(files, path);
    if (content === undefined) continue;
    for (const [, name = ''] of content.subarray(-MAX_BYTES).toString('latin1').matchAll(NAME)) {
      const folded = name.toLowerCase();
      counts.set(folded, (counts.get(folded) ?? 0) + 1);
    }
  }
  return counts;
}
