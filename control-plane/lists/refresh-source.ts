/**
 * One attempt to renew the copy of one source: fetch, look whether it is a list that can be used, and only
 * then take the place of the copy before. Bringing it into force is `list-compiler.ts`.
 */
import { rm } from 'node:fs/promises';
import type { CompilePool } from '../snapshot/compile-pool.ts';
import type { FetchLimits } from './fetch-limits.ts';
import { fetchList } from './fetch-list.ts';
import type { ListCache } from './list-cache.ts';
import { readingOf } from './list-compiler.ts';
import { ListError } from './list-error.ts';
import type { Lookup } from './list-host.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';

/** What a refresh is made of. */
export interface RefreshParts {
  readonly cache: ListCache;
  readonly pool: CompilePool;
  /** Folders that `file:` sources may reach; asked for each fetch. */
  readonly listDirs: () => readonly string[];
  readonly limits?: FetchLimits;
  readonly lookup?: Lookup;
}

/** What a refresh found out, and whether there is a new copy to compile. */
export interface Refreshed {
  readonly facts: SourceFacts;
  readonly isNew: boolean;
}

/** Renews the copy of `source`. Throws a ListError or a CompileError; the copy before stays then. */
export async function refreshSource(
  source: StoredSource,
  parts: RefreshParts,
  signal: AbortSignal,
): Promise<Refreshed> {
  const { cache, limits, lookup } = parts;
  await cache.open();
  const path = cache.temporaryPath();
  try {
    const hasCopy = cache.isOf(source.id, source.url);
    const outcome = await fetchList({
      url: source.url,
      validators: hasCopy
        ? { etag: source.etag, lastModified: source.lastModified }
        : { etag: null, lastModified: null },
      path,
      listDirs: parts.listDirs(),
      signal,
      ...(limits === undefined ? {} : { limits }),
      ...(lookup === undefined ? {} : { lookup }),
    });
    if (outcome.type === 'unchanged') return { facts: {}, isNew: false };
    const { validators, bytes, digest } = outcome;
    if (cache.holds(source.id, source.url, digest)) return { facts: { ...validators, bytes }, isNew: false };
    const statistics = await parts.pool.inspect({ path, reading: readingOf(source) }, signal);
    if (statistics.fault !== null) throw new ListError(statistics.fault.code, statistics.fault.message);
    await cache.commit(source.id, source.url, digest, path);
    const facts = {
      ...validators,
      bytes,
      rules: statistics.rules,
      invalidLines: statistics.invalidLines,
      format: statistics.format,
    };
    return { facts, isNew: true };
  } finally {
    await rm(path, { force: true });
  }
}
