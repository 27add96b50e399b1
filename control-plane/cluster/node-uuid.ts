/** The identity of a data directory, whatever the node's name: a UUID in a file of its own. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../shared/log.ts';
import { reasonOf } from '../../shared/thrown.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The UUID of a data directory; created if missing. If it cannot be stored, it is valid for this run only. */
export function nodeUuid(dataDir: string, logger: Logger): string {
  const path = join(dataDir, 'node-uuid');
  const known = readText(path);
  if (UUID.test(known)) return known;
  if (known !== '')
    logger.warn('read the UUID of this node: the file is damaged, a new one is made', { path });
  const uuid = randomUUID();
  try {
    writeFileSync(path, `${uuid}\n`, { mode: 0o600, flush: true });
  } catch (error) {
    logger.warn('keep the UUID of this node: the next start makes another', {
      path,
      reason: reasonOf(error),
    });
  }
  return uuid;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // The first start, or an unreadable file: writing it reports why.
  }
}
