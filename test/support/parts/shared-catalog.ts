/** Service catalogues of several nodes that share a real database. */
import { randomUUID } from 'node:crypto';
import { asOwner } from './as-owner.ts';
import { JobLeases } from '../../../control-plane/storage/cluster/leases.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { PolicyChanges } from '../../../control-plane/policy/change/change.ts';
import type { MemoryLogger } from './memory-logger.ts';

/** The parts of one node. */
export function catalogParts(database: Database, logger: MemoryLogger) {
  const changes = new PolicyChanges(database, { apply: async () => undefined, threadsBehind: () => 0 });
  return { database, changes, jobs: new JobLeases({ database, logger, node: randomUUID() }) };
}

/** Restores the state before the first fetch. */
export async function deleteFetches(database: Database): Promise<void> {
  await asOwner(database, 'TRUNCATE leases, blobs');
  await database.query('DELETE FROM service_catalog');
  await database.query('INSERT INTO service_catalog DEFAULT VALUES');
}
