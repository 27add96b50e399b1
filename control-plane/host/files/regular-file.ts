/** Reads small files whose paths users configure: rejects devices, pipes that wait for a writer, and large files. */
import { readFileSync, statSync } from 'node:fs';

/** Maximum size in bytes; a larger file cannot be the intended one. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The text of a file; throws errors of the system, and an error for a file that is not regular or is too large. */
export function readRegularFile(path: string): string {
  const stat = statSync(path);
  if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
  if (stat.size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
  return readFileSync(path, 'utf8');
}
