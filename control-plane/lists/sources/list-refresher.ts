/**
 * Fetches lists on request and when they are due: a few at a time, each source at most once at a time. The result is
 * written to the source's row; on any failure the previous copy stays in force.
 */
import { reasonOf } from '../../../shared/thrown.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { Database } from '../../db/database.ts';
import { CompileError } from '../../compile/table/compile-pool.ts';
import type { ListCopy } from './list-cache.ts';
import type { PolicyChanges } from '../../policy/change.ts';
import { isDue } from '../fetch/refresh-schedule.ts';
import { inputKeyOf, readingOf } from './list-compiler.ts';
import { refreshSource } from './refresh-source.ts';
import type { RefreshParts, Refreshed } from './refresh-source.ts';
import { recordContent, recordSource } from './source-records.ts';
import type { StoredSource } from './source-store.ts';
import { listSources, readSource } from './source-store.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';

/** Parts of the refresher. */
export interface RefresherParts extends RefreshParts {
  readonly database: Database;
  readonly changes: PolicyChanges;
  /** `blocking.list_refresh_hours`; asked at each look. */
  readonly refreshHours: () => number;
  /** Puts the current copies into force. */
  readonly bringIntoForce: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Concurrent fetches. */
const CONCURRENT_FETCHES = 4;

/** Schedules and runs the fetches of this node. */
export class ListRefresher {
  private readonly parts: RefresherParts;
  private readonly stopping = new AbortController();
  private readonly semaphore = new Semaphore(CONCURRENT_FETCHES);
  /** Running or queued refreshes, by source. */
  private readonly refreshes = new Map<
    number,
    { readonly done: Promise<void>; readonly abort: AbortController }
  >();
  /** Failures in a row, by source. */
  private readonly failures = new Map<number, number>();
  /** All running refreshes, including stopped ones. */
  private readonly atWork = new Set<Promise<void>>();

  constructor(parts: RefresherParts) {
    this.parts = parts;
  }

  /** Whether a source is being fetched or waits for its turn. */
  isAtWork(id: number): boolean {
    return this.refreshes.has(id);
  }

  /** Refreshes a source and resolves when it has ended, successful or not; joins a running one. */
  start(id: number): Promise<void> {
    const known = this.refreshes.get(id);
    if (known !== undefined && !known.abort.signal.aborted) return known.done;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.stopping.signal]);
    const done = this.semaphore
      .run(() => this.refresh(id, signal))
      .catch((error: unknown) =>
        this.parts.logger.warn('refresh list failed', { id, reason: reasonOf(error) }),
      )
      .finally(() => {
        this.atWork.delete(done);
        if (this.refreshes.get(id)?.abort === abort) this.refreshes.delete(id);
      });
    this.refreshes.set(id, { done, abort });
    this.atWork.add(done);
    return done;
  }

  /** Starts a refresh of each enabled source that is due. */
  async startDue(): Promise<void> {
    const { clock, database, cache } = this.parts;
    for (const source of await listSources(database)) {
      if (!source.enabled || this.stopping.signal.aborted) continue;
      const failures = this.failures.get(source.id) ?? 0;
      const isAsStored =
        (source.status === 'ok' || source.status === 'held') && cache.isOf(source.id, source.url);
      // Refreshes that failed or were unfinished before this start are retried at once.
      const lastMs = failures > 0 || isAsStored ? Date.parse(source.last_checked_at ?? '') : NaN;
      const attempts = { lastMs: Number.isNaN(lastMs) ? undefined : lastMs, failures };
      if (isDue(attempts, clock.nowMs(), this.parts.refreshHours())) void this.start(source.id);
    }
  }

  /** Ends the running attempt on one source, or on all. */
  stop(id?: number): void {
    for (const [source, { abort }] of this.refreshes) if (id === undefined || id === source) abort.abort();
  }

  /** Drops the state of a removed source. */
  forget(id: number): void {
    this.stop(id);
    this.failures.delete(id);
  }

  /** Ends everything, for good. */
  close(): void {
    this.stopping.abort();
  }

  /** Resolves when no refresh is running. */
  async idle(): Promise<void> {
    while (this.atWork.size > 0) await Promise.all(this.atWork);
  }

  private async refresh(id: number, signal: AbortSignal): Promise<void> {
    const { database, logger } = this.parts;
    signal.throwIfAborted();
    const source = await readSource(database, id);
    const { name } = source;
    await recordSource(database, source, { status: 'updating' });
    try {
      const refreshed = await refreshSource(source, this.parts, signal);
      await this.takeOver(source, refreshed);
      this.failures.delete(id);
      if (refreshed.outcome === 'held') logger.warn('list held', { id, name, reason: refreshed.reason });
      else logger.info(refreshed.outcome === 'new' ? 'list updated' : 'list unchanged', { id, name });
    } catch (error) {
      if (signal.aborted) {
        // Not its fault, and not finished: the next check retries.
        const status = source.status === 'updating' ? 'pending' : source.status;
        await recordSource(database, source, { status });
        return;
      }
      this.failures.set(id, (this.failures.get(id) ?? 0) + 1);
      const reason = reasonOf(error);
      logger.warn('list not updated; its last copy stays in force', { id, name, reason });
      await recordSource(database, source, { status: 'error', lastError: reason, lastCheckedAt: this.now() });
    }
  }

  /** Stores the result of a refresh, and puts a new copy into force. */
  private async takeOver(source: StoredSource, refreshed: Refreshed): Promise<void> {
    const { database, changes, cache } = this.parts;
    const lastCheckedAt = this.now();
    try {
      if (refreshed.outcome === 'held') {
        await recordSource(database, source, { ...refreshed.facts, status: 'held', lastCheckedAt });
        return;
      }
      if (refreshed.outcome === 'new') {
        // Before the compile, so that the copy on disk is recorded even if it fails.
        const facts = { ...refreshed.facts, lastChangedAt: lastCheckedAt };
        const what = `updated, ${facts.rules ?? 0} rules`;
        if (!(await recordContent(changes, source, facts, what))) return;
        cache.use(source.id, refreshed.copy.contentKey);
      } else await recordSource(database, source, refreshed.facts);
    } finally {
      if (refreshed.outcome !== 'unchanged' && refreshed.copy !== undefined) cache.settle(refreshed.copy);
    }
    if (source.enabled) await this.parts.bringIntoForce();
    const refusal = refreshed.outcome === 'new' ? this.refusalOf(source, refreshed.copy) : undefined;
    if (refusal !== undefined) throw new CompileError(refusal, null);
    await recordSource(database, source, { status: 'ok', lastError: null, lastCheckedAt });
  }

  /** Why the compile refused this copy. */
  private refusalOf(source: StoredSource, { contentKey }: ListCopy): string | undefined {
    return this.parts.refused.reasonFor(source.id, inputKeyOf(source.id, contentKey, readingOf(source)));
  }

  private now(): Date {
    return new Date(this.parts.clock.nowMs());
  }
}
