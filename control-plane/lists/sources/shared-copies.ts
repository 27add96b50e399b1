/**
 * Copies of lists between this node's disk and the database: content that another node fetched is streamed from there
 * once, and content that only this disk has, after a damaged blob was removed, is uploaded. The row of a source names
 * its active copy.
 */
import { rm } from 'node:fs/promises';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import {
  DamagedBlob,
  fetchBlob,
  missingBlobs,
  removeBlob,
  storeBlob,
} from '../../storage/cluster/blob-store.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { neededCopies } from '../../policy/change/revision-store.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import type { StoredSource } from './source-store.ts';

export interface SharedCopiesParts {
  readonly database: Database;
  readonly changes: PolicyChanges;
  readonly cache: ListCache;
  readonly logger: Logger;
}

/** Brings copies to this disk and into the database. */
export class SharedCopies {
  private readonly parts: SharedCopiesParts;

  constructor(parts: SharedCopiesParts) {
    this.parts = parts;
  }

  /** The copy of a source with this content, streamed if this disk lacks it; undefined if it is not stored anywhere. */
  async bring(source: Pick<StoredSource, 'id' | 'url'>, contentKey: string): Promise<ListCopy | undefined> {
    const { database, cache, logger } = this.parts;
    const { id, url } = source;
    const known = cache.find(id, contentKey);
    if (known !== undefined) return known;
    const path = cache.temporaryPath();
    try {
      if (!(await fetchBlob(database, contentKey, path))) return undefined;
      const copy = await cache.store(id, url, contentKey, path);
      // A row names it already.
      cache.settle(copy);
      logger.debug('list copied from the database', { id, contentKey });
      return copy;
    } catch (error) {
      if (!(error instanceof DamagedBlob)) throw error;
      logger.error('copy list from the database: it is fetched again', { id, reason: reasonOf(error) });
      await removeBlob(database, contentKey);
      return undefined;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Stores the copies that rows name, that this disk has and the database lacks. */
  async giveMissing(): Promise<void> {
    const { database, changes, cache } = this.parts;
    const missing = await missingBlobs(database, [...(await neededCopies(database))]);
    for (const key of missing) {
      const copy = cache.findAny(key);
      if (copy === undefined) continue;
      await changes.record(async (tx) => {
        await storeBlob(tx, key, copy.path);
        return { result: undefined, summary: null };
      });
    }
  }
}
