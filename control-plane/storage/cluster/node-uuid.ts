/**
 * Identity of a data directory, independent of the node's name: a UUID in a file, next to a file with the location
 * where it was created. A copy in another location must be another node: with the same UUID, the copy would immediately
 * take over the jobs of the first node.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** This file is created when a system is installed; it may be missing in a container. */
const MACHINE_ID = '/etc/machine-id';

/** Location of a data directory: its machine and path. One line. */
export function placeOf(dataDir: string): string {
  return [hostname(), realpathSync(dataDir), readText(MACHINE_ID)].join(' ').trim();
}

/**
 * The UUID of a data directory; creates a UUID if there is none, or if the directory was copied or moved. If the UUID
 * cannot be stored, it is valid for this run only.
 */
export function nodeUuid(dataDir: string, logger: Logger, place = placeOf(dataDir)): string {
  const path = join(dataDir, 'node-uuid');
  const placePath = join(dataDir, 'node-place');
  const keep = (file: string, text: string): void => {
    try {
      writeFileSync(file, `${text}\n`, { mode: 0o600, flush: true });
    } catch (error) {
      const fields = { path: file, reason: reasonOf(error) };
      logger.warn('could not store the UUID of this node; the next start will create another', fields);
    }
  };
  const known = readText(path);
  const madeAt = readText(placePath);
  // The location is missing if the first start ended between writing the two files.
  const isHere = madeAt === '' || madeAt === place;
  if (UUID.test(known) && isHere) {
    if (madeAt === '') keep(placePath, place);
    return known;
  }
  if (known !== '')
    logger.warn(
      isHere
        ? 'the file with the UUID of this node is damaged; creating a new one'
        : 'this data directory was copied or moved; this node gets a new UUID, because the original may still ' +
            'be in use',
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
    return ''; // This is the first start, or the file is unreadable; writing the file will then report the reason.
  }
}
