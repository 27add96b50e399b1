/**
 * Batches that the database rejects because of their content: kept on disk for inspection; if there are too many, the
 * newest replaces the oldest. Weir never reads them again. A file is one line of JSON followed by the block, as in
 * `log-spool.ts`.
 */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogBatch } from './log-batch.ts';
import { frameHeader } from './log-spool.ts';

/** Maximum number of batches that are kept; each batch is at most 2 MiB. */
const MAX_FILES = 8;

/** Writes a batch to `dir` and resolves with its path; rejects if it cannot be written. */
export async function storeRefused(dir: string, batch: LogBatch): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, `${batch.id}.block`);
  await writeFile(path, [frameHeader(batch), batch.bytes], { mode: 0o600 });
  const files = (await readdir(dir)).map(async (name) => {
    const { mtimeMs } = await stat(join(dir, name));
    return { name, mtimeMs };
  });
  const newestFirst = (await Promise.all(files)).sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const { name } of newestFirst.slice(MAX_FILES)) await rm(join(dir, name), { force: true });
  return path;
}
