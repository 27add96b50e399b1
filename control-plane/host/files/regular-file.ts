/** Reads small files whose paths users configure: rejects devices, pipes that wait for a writer, and large files. */
import { readFileSync, statSync } from 'node:fs';

/** A larger file cannot be the intended one. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The text of a file; throws errors of the system, and for files that are not regular or too large. */
export function readRegularFile(path: string): string {
  const stat = statSync(path);
  if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
  if (stat.size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
  return readFileSync(path, 'utf8');
}
