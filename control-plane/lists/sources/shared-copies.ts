/**
 * Copies of lists that another node fetched: each is streamed from the database to this node's disk once. The row of a
 * source says which copy counts.
 */
import { rm } from 'node:fs/promises';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/thrown.ts';
import { DamagedBlob, fetchBlob, removeBlob } from '../../cluster/blob-store.ts';
import type { Database } from '../../db/database.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import type { StoredSource } from './source-store.ts';

/** What they go between. */
export interface SharedCopiesParts {
  readonly database: Database;
  readonly cache: ListCache;
  readonly logger: Logger;
}

/** Brings copies to this disk. */
export class SharedCopies {
  private readonly parts: SharedCopiesParts;

  constructor(parts: SharedCopiesParts) {
    this.parts = parts;
  }

  /** The copy of a source with this content, streamed if this disk lacks it; undefined if no one has it. */
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
}
