/**
 * One attempt to update the copy of one source: fetches it, checks that it is a usable list, and lets the guard decide
 * whether it may replace the previous copy. `list-sources.ts` stores and activates the result.
 */
import { rm } from 'node:fs/promises';
import type { HeldCopy } from '../../../shared/api/policy/held-copy-api.ts';
import type { ListFile, ListInspection } from '../../policy/compile/table/compile-job.ts';
import { CompileError, type CompilePool } from '../../policy/compile/table/compile-pool.ts';
import { inputKeyOf } from '../../policy/compile/table/input-key.ts';
import { contentKey } from '../../storage/cluster/blob-store.ts';
import type { FetchLimits } from '../fetch/fetch-limits.ts';
import { fetchList } from '../fetch/fetch-list.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import { readingOf } from './list-compiler.ts';
import { ListError } from '../fetch/list-error.ts';
import type { RefusedCopies } from './refused-copies.ts';
import {
  holdText,
  findingsOf,
  mayMatchMost,
  reasonToHold,
  reasonToHoldFirst,
  sampleOf,
} from './list-guard.ts';
import type { GuardedCopy, MostAskedNames } from './list-guard.ts';
import type { FetchBounds, Lookup } from '../fetch/list-host.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';

/** Dependencies of a refresh. */
export interface RefreshParts {
  readonly cache: ListCache;
  readonly refused: RefusedCopies;
  readonly pool: CompilePool;
  readonly mostAsked: Pick<MostAskedNames, 'names' | 'ofLastDay'>;
  /** Directories from which `file:` sources can read; called for each fetch. */
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  readonly limits?: FetchLimits;
  readonly lookup?: Lookup;
}

/** The result of a refresh: the list has not changed, its new copy may be used, or its new copy must be held. */
export type Refreshed =
  | { readonly outcome: 'unchanged'; readonly facts: SourceFacts }
  | { readonly outcome: 'new'; readonly facts: SourceFacts; readonly copy: ListCopy }
  | {
      readonly outcome: 'held';
      readonly facts: SourceFacts;
      readonly reason: string;
      /** Absent if this copy was already held. */
      readonly copy?: ListCopy;
    };

/**
 * Fetches the list of `source` again; the caller must settle a returned `copy`. If it throws (a ListError or a
 * CompileError), the previous copy stays active.
 */
export async function refreshSource(
  source: StoredSource,
  parts: RefreshParts,
  signal: AbortSignal,
): Promise<Refreshed> {
  const { cache, limits, lookup } = parts;
  await cache.open();
  const path = cache.temporaryPath();
  try {
    const before = copyBefore(source, cache);
    const outcome = await fetchList({
      url: source.url,
      validators:
        before === undefined
          ? { etag: null, lastModified: null }
          : { etag: source.etag, lastModified: source.lastModified },
      path,
      listDirs: parts.listDirs(),
      bounds: parts.bounds,
      signal,
      ...(limits === undefined ? {} : { limits }),
      ...(lookup === undefined ? {} : { lookup }),
    });
    // If there is a held update, the unchanged content is that of the held update.
    if (outcome.type === 'unchanged') return stillHeld(source, {}) ?? { outcome: 'unchanged', facts: {} };
    const { validators, bytes, digest } = outcome;
    if (before?.contentKey === contentKey(digest))
      return { outcome: 'unchanged', facts: { ...validators, bytes, heldKey: null } };
    if (source.heldKey === contentKey(digest)) return stillHeld(source, validators)!;
    return await takeIn(source, { path, digest, bytes, validators }, parts, signal);
  } finally {
    await rm(path, { force: true });
  }
}

/** The active copy, if it is from the current URL of the source and on the disk of this node. */
function copyBefore({ id, contentKey: key, isKept }: StoredSource, cache: ListCache): ListCopy | undefined {
  return isKept && key !== null ? cache.find(id, key) : undefined;
}

interface Fetched {
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
  readonly validators: { readonly etag: string | null; readonly lastModified: string | null };
}

async function takeIn(
  source: StoredSource,
  { path, digest, bytes, validators }: Fetched,
  parts: RefreshParts,
  signal: AbortSignal,
): Promise<Refreshed> {
  const { cache, pool } = parts;
  const before = copyBefore(source, cache);
  const reading = readingOf(source);
  const inputKey = inputKeyOf(source.id, contentKey(digest), reading);
  const refusal = parts.refused.reasonFor(source.id, inputKey);
  if (refusal !== undefined) throw new CompileError(refusal, null);
  const all = await (before === undefined ? parts.mostAsked.ofLastDay() : parts.mostAsked.names());
  let watch = sampleOf(all);
  const list = { path, reading, inputKey };
  let next = await inspectNew(source.id, list, watch, parts, signal);
  if (watch.length < all.length && mayMatchMost(guarded(next, reading.kind), watch)) {
    watch = all;
    next = await inspectNew(source.id, list, watch, parts, signal);
  }
  const { statistics } = next;
  if (statistics.fault !== null) throw new ListError(statistics.fault.code, statistics.fault.message);
  const held =
    before === undefined
      ? reasonToHoldFirst(guarded(next, reading.kind), watch.length)
      : await compareWithPrevious(next, { path: before.path, reading, watch }, pool, signal);
  const copy = await cache.store(source.id, source.url, contentKey(digest), path);
  if (held !== null) {
    const reason = holdText(held);
    const facts = { ...validators, heldKey: copy.contentKey, held, lastError: reason };
    return { outcome: 'held', facts, reason, copy };
  }
  const { rules, invalidLines, format } = statistics;
  const facts = {
    ...validators,
    bytes,
    rules,
    invalidLines,
    format,
    contentKey: copy.contentKey,
    heldKey: null,
    judged: findingsOf(copy.contentKey, next),
  };
  return { outcome: 'new', facts, copy };
}

/** Inspects a new copy. A copy that exceeds the time or memory limit is recorded as rejected. */
async function inspectNew(
  id: number,
  { inputKey, ...list }: ListFile & { readonly inputKey: string },
  watch: readonly string[],
  { pool, refused }: RefreshParts,
  signal: AbortSignal,
): Promise<ListInspection> {
  try {
    return await pool.inspect(list, watch, signal);
  } catch (error) {
    if (error instanceof CompileError && error.list !== null) refused.add(id, inputKey, error.message);
    throw error;
  }
}

/** Compares a new copy with the previous one. If the previous copy cannot be read, the new copy may replace it. */
async function compareWithPrevious(
  next: ListInspection,
  before: { path: string; reading: ReturnType<typeof readingOf>; watch: readonly string[] },
  pool: CompilePool,
  signal: AbortSignal,
): Promise<HeldCopy | null> {
  const { watch, ...list } = before;
  const old = await pool.inspect(list, watch, signal);
  if (old.statistics.fault !== null) return reasonToHoldFirst(guarded(next, before.reading.kind), 0);
  return reasonToHold(guarded(old, before.reading.kind), guarded(next, before.reading.kind));
}

/** Data about a copy for the guard, with the names that a blocklist blocks or an allowlist allows. */
function guarded(inspection: ListInspection, kind: 'block' | 'allow'): GuardedCopy {
  const { statistics, watched, allowed, forEveryName, addressShare } = inspection;
  return {
    rules: statistics.rules,
    blocked: watched,
    allowed: kind === 'allow' ? allowed : [],
    forEveryName,
    addressShare,
  };
}

function stillHeld(source: StoredSource, facts: SourceFacts): Refreshed | undefined {
  if (source.heldKey === null) return undefined;
  const reason = source.last_error ?? 'held';
  return { outcome: 'held', facts: { ...facts, lastError: reason }, reason };
}
