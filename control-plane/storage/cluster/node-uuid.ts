/**
 * Identity of a data directory, whatever the node's name: a UUID in a file, and next to it a file with the place where
 * it was created. A copy in another place is another node: with the same UUID it would take over the jobs of the first
 * at once.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Made when a system is installed; a container may have none. */
const MACHINE_ID = '/etc/machine-id';

/** Where a data directory lies: on which machine, under which path. One line. */
export function placeOf(dataDir: string): string {
  return [hostname(), realpathSync(dataDir), readText(MACHINE_ID)].join(' ').trim();
}

/**
 * The UUID of a data directory; made if there is none, or if it was copied or moved from another place. If it cannot be
 * stored, it is valid for this run only.
 */
export function nodeUuid(dataDir: string, logger: Logger, place = placeOf(dataDir)): string {
  const path = join(dataDir, 'node-uuid');
  const placePath = join(dataDir, 'node-place');
  const keep = (file: string, text: string): void => {
    try {
      writeFileSync(file, `${text}\n`, { mode: 0o600, flush: true });
    } catch (error) {
      const fields = { path: file, reason: reasonOf(error) };
      logger.warn('keep the UUID of this node: the next start makes another', fields);
    }
  };
  const known = readText(path);
  const madeAt = readText(placePath);
  // None was written if the first start ended between the two files.
  const isHere = madeAt === '' || madeAt === place;
  if (UUID.test(known) && isHere) {
    if (madeAt === '') keep(placePath, place);
    return known;
  }
  if (known !== '')
    logger.warn(
      isHere
        ? 'read the UUID of this node: the file is damaged, a new one is made'
        : 'this data directory was copied or moved: it gets a new UUID, as the other may still be in use',
      isHere ? { path } : { before: madeAt, now: place },
    );
  const uuid = randomUUID();
  keep(path, uuid);
  keep(placePath, place);
  return uuid;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // The first start, or an unreadable file: writing it reports why.
  }
}
