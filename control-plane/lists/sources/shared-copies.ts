/**
 * Exchanges copies of lists between this node's disk and the database: downloads each content that another node has
 * fetched, and uploads content that only this disk has, because a damaged blob was removed. The row of a source
 * contains the key of its active copy.
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

/** Downloads copies to this disk and uploads them to the database. */
export class SharedCopies {
  private readonly parts: SharedCopiesParts;

  constructor(parts: SharedCopiesParts) {
    this.parts = parts;
  }

  /**
   * The copy of a source with this content. Downloads the copy if it is not on this disk; returns undefined if it is
   * not stored anywhere.
   */
  async bring(source: Pick<StoredSource, 'id' | 'url'>, contentKey: string): Promise<ListCopy | undefined> {
    const { database, cache, logger } = this.parts;
    const { id, url } = source;
    const known = cache.find(id, contentKey);
    if (known !== undefined) return known;
    const path = cache.temporaryPath();
    try {
      if (!(await fetchBlob(database, contentKey, path))) return undefined;
      const copy = await cache.store(id, url, contentKey, path);
      // Pruning keeps the copy from now on, because a row refers to it.
      cache.settle(copy);
      logger.debug('list copied from the database', { id, contentKey });
      return copy;
    } catch (error) {
      if (!(error instanceof DamagedBlob)) throw error;
      logger.error('could not copy a list from the database; fetching it again', {
        id,
        reason: reasonOf(error),
      });
      await removeBlob(database, contentKey);
      return undefined;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Uploads copies to which rows refer, if they are on this disk and missing in the database. */
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
