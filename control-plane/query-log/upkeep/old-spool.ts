/** Files that an earlier version left in the spool: rows in a form that this one does not read. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/thrown.ts';

const MOST_NAMED = 20;

/** Reports such files; they stay where they are. */
export async function reportOldSpool(dataDir: string, logger: Logger): Promise<void> {
  const dir = join(dataDir, 'spool');
  const names = await readdir(dir).catch((error: unknown) => {
    // The log writer makes the folder.
    logger.debug('look for old files in the spool', { reason: reasonOf(error) });
    return [];
  });
  const old = names.filter((name) => name.endsWith('.rows')).sort();
  if (old.length === 0) return;
  logger.error('the spool holds queries of an earlier version that cannot be read any more', {
    files: old.slice(0, MOST_NAMED).map((name) => join(dir, name)),
    count: old.length,
  });
}
