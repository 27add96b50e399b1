/**
 * Fetches lists for all nodes, on request and when they are due: a few at a time, and each source by only one node at a
 * time. One transaction writes the result to the row of the source and stores a new copy, so that every node finds it.
 * After any failure, the previous copy stays active. A `file:` list is read by the node that has read it first, as long
 * as that node is running and has the file, because other nodes may have a different file at this path, or none.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { storeBlob } from '../../storage/cluster/blob-store.ts';
import { type JobLeases, type Lease, LeaseLost } from '../../storage/cluster/leases.ts';
import type { Database } from '../../storage/db/database.ts';
import { CompileError } from '../../policy/compile/table/compile-pool.ts';
import { ListArrivals } from './list-arrivals.ts';
import type { ListCopy } from './list-cache.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { dropUnneededBlobs } from '../../policy/change/revision-store.ts';
import { listFileExists } from '../fetch/open-list-file.ts';
import { isDue } from '../fetch/refresh-schedule.ts';
import { refusalOf } from './list-compiler.ts';
import { refreshSource } from './refresh-source.ts';
import type { RefreshParts, Refreshed } from './refresh-source.ts';
import { undoRefused } from './source-records.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import { listSources, readSource, recordFacts } from './source-store.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';

/** Dependencies of the refresher. */
export interface RefresherParts extends RefreshParts {
  readonly database: Database;
  readonly changes: PolicyChanges;
  readonly jobs: Pick<JobLeases, 'hold'>;
  /** Name of this node. */
  readonly nodeName: string;
  /** `blocking.list_refresh_hours`; read at each check. */
  readonly refreshHours: () => number;
  /** Selects the copy in the row of a source, with which fetched content is compared. */
  readonly chooseCopy: (id: number) => Promise<unknown>;
  /** Activates the current copies. */
  readonly activate: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum number of concurrent fetches. */
const CONCURRENT_FETCHES = 4;
/** Milliseconds for which a node that does not have the file of a list waits for a node that has it. */
const MISSING_FILE_GRACE_MS = 120_000;
const NO_COPY = 'it is not active until it can be fetched';

/** One attempt to refresh a list. */
interface Attempt {
  readonly isAsked: boolean;
  /** Must be called when the list has arrived, so that another one can be fetched. */
  readonly arrived: () => void;
  readonly signal: AbortSignal;
}

/** Schedules and runs fetches. */
export class ListRefresher {
  private readonly parts: RefresherParts;
  private readonly stopping = new AbortController();
  private readonly semaphore = new Semaphore(CONCURRENT_FETCHES);
  /** Running or queued refreshes, by source. */
  private readonly refreshes = new Map<
    number,
    { readonly done: Promise<void>; readonly abort: AbortController }
  >();
  /** All refreshes that have not ended, including those that were stopped. */
  private readonly atWork = new Set<Promise<void>>();
  /** Attempts that may still result in a copy. */
  private readonly expected = new Set<AbortController>();
  private readonly arrivals: ListArrivals;

  private readonly startedAtMs: number;

  constructor(parts: RefresherParts) {
    this.parts = parts;
    this.startedAtMs = parts.clock.nowMs();
    this.arrivals = new ListArrivals({ ...parts, expectsMore: () => this.expected.size > 0 });
  }

  /** Whether a source is being fetched or waits for its turn. */
  isAtWork(id: number): boolean {
    return this.refreshes.has(id);
  }

  /**
   * Refreshes a source if it is due or a user has requested it (`isAsked`), and no other node is refreshing it.
   * Resolves when the refresh has ended, even if it failed. If a refresh is already running, waits for the same one; if
   * that one was stopped, waits for its end first.
   */
  start(id: number, isAsked = true): Promise<void> {
    const known = this.refreshes.get(id);
    if (known !== undefined && !known.abort.signal.aborted) return known.done;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.stopping.signal]);
    this.expected.add(abort);
    const done = (known?.done ?? Promise.resolve())
      .then(() => this.inTurn(id, isAsked, signal, () => this.expectNoMore(abort)))
      .catch((error: unknown) =>
        this.parts.logger.warn('could not refresh a list', { id, reason: reasonOf(error) }),
      )
      .finally(() => {
        this.atWork.delete(done);
        if (this.refreshes.get(id)?.abort === abort) this.refreshes.delete(id);
        this.expectNoMore(abort);
      });
    this.refreshes.set(id, { done, abort });
    this.atWork.add(done);
    return done;
  }

  /**
   * Stops a running refresh of a source and starts another, because the source has changed and the attempt may have
   * read the old content.
   */
  restart(id: number): Promise<void> {
    this.stop(id);
    return this.start(id);
  }

  /** Starts a refresh of each enabled source that is due. */
  async startDue(): Promise<void> {
    for (const source of await listSources(this.parts.database)) {
      if (!source.enabled || this.stopping.signal.aborted) continue;
      if (await this.isDue(source)) void this.start(source.id, false);
    }
  }

  /** Stops the running refresh of one source, or of all sources. */
  stop(id?: number): void {
    for (const [source, { abort }] of this.refreshes) if (id === undefined || id === source) abort.abort();
  }

  /** Stops all work permanently. */
  close(): void {
    this.stopping.abort();
  }

  /** Resolves when no refresh is running. */
  async idle(): Promise<void> {
    while (this.atWork.size > 0) await Promise.all(this.atWork);
  }

  private async isDue(source: StoredSource): Promise<boolean> {
    const { clock, listDirs, refreshHours } = this.parts;
    if (source.has_text || this.isOfOther(source)) return false;
    const { status, failures, url } = source;
    const checkedMs = Date.parse(source.last_checked_at ?? '');
    // The status `held` also counts without a copy, because the first copy of a list may be held.
    const isAsStored = status === 'held' || (status === 'ok' && source.isKept);
    // Refreshes that failed or were interrupted before this process started are retried immediately.
    const isTried = failures > 0 && checkedMs >= this.startedAtMs;
    const attempts = { lastMs: isAsStored || isTried ? checkedMs : undefined, failures };
    const graceMs = (await listFileExists(url, listDirs())) ? 0 : MISSING_FILE_GRACE_MS;
    return isDue(attempts, clock.nowMs(), { refreshHours: refreshHours(), graceMs });
  }

  /** Whether the source is a file that another node reads. */
  private isOfOther({ url, file_node: reader, hasReader }: StoredSource): boolean {
    return url.startsWith('file:') && hasReader && reader !== this.parts.nodeName;
  }

  /**
   * Runs a refresh when fewer than the maximum number of fetches are running; its place is free when the list has
   * arrived. Resolves when the list is active or the refresh has failed.
   */
  private async inTurn(
    id: number,
    isAsked: boolean,
    signal: AbortSignal,
    onArrival: () => void,
  ): Promise<void> {
    let refreshing = Promise.resolve();
    await this.semaphore.run(
      () =>
        new Promise<void>((leave) => {
          const arrived = (): void => {
            onArrival();
            leave();
          };
          refreshing = this.refresh(id, { isAsked, arrived, signal });
          refreshing.then(arrived, arrived);
        }),
    );
    await refreshing;
  }

  private expectNoMore(attempt: AbortController): void {
    if (this.expected.delete(attempt)) this.arrivals.check();
  }

  private async refresh(id: number, attempt: Attempt): Promise<void> {
    const { isAsked, signal } = attempt;
    const { database, jobs, logger } = this.parts;
    signal.throwIfAborted();
    const isOurs = await jobs.hold(`fetch list ${id}`, async (lease) => {
      // Read again, because another node may have fetched the list while this one waited.
      const source = await readSource(database, id);
      if (source.has_text) return;
      // The node that has the file will find at its next check that the list is due.
      if (this.isOfOther(source)) {
        if (isAsked) await this.record(lease, source, { status: 'pending' });
      } else if (isAsked || (await this.isDue(source)))
        await this.refreshUnder(lease, source, {
          ...attempt,
          signal: AbortSignal.any([signal, lease.signal]),
        });
    });
    if (!isOurs) logger.debug('another node is fetching the list', { id });
  }

  private async refreshUnder(
    lease: Lease,
    source: StoredSource,
    { signal, arrived }: Attempt,
  ): Promise<void> {
    const { cache, listDirs, logger, nodeName } = this.parts;
    const { id, name, url } = source;
    const hasFile = url.startsWith('file:') && (await listFileExists(url, listDirs()));
    await this.record(lease, source, { status: 'updating', fileNode: hasFile ? nodeName : null });
    try {
      await this.parts.chooseCopy(id);
      const refreshed = await refreshSource(source, this.parts, signal);
      await this.takeOver(lease, source, refreshed, arrived);
      if (refreshed.outcome === 'held')
        logger.warn('list held for approval', { id, name, reason: refreshed.reason });
      else logger.info(refreshed.outcome === 'new' ? 'list updated' : 'list unchanged', { id, name });
    } catch (error) {
      if (signal.aborted) {
        // The list is not the cause and the refresh is not complete, so the next check retries it.
        const status = source.status === 'updating' ? 'pending' : source.status;
        await this.record(lease, source, { status });
        return;
      }
      if (error instanceof LeaseLost) throw error;
      const reason = reasonOf(error);
      const effect = cache.copyOf(id) === undefined ? NO_COPY : 'its last copy stays active';
      logger.warn(`list not updated; ${effect}`, { id, name, reason });
      const failures = source.failures + 1;
      const facts = { status: 'error', lastError: reason, lastCheckedAt: this.now(), failures } as const;
      await this.record(lease, source, facts);
    }
  }

  /** Stores the result of a refresh, and activates a new copy. */
  private async takeOver(
    lease: Lease,
    source: StoredSource,
    refreshed: Refreshed,
    arrived: () => void,
  ): Promise<void> {
    const { cache } = this.parts;
    const done = { lastCheckedAt: this.now(), failures: 0 };
    const copy = refreshed.outcome === 'unchanged' ? undefined : refreshed.copy;
    try {
      switch (refreshed.outcome) {
        case 'held':
          await this.store(lease, source, { ...refreshed.facts, ...done, status: 'held' }, copy);
          return;
        case 'unchanged':
          if (!(await this.store(lease, source, refreshed.facts, undefined))) return;
          if (source.enabled) await this.parts.activate();
          break;
        case 'new': {
          const isAdded = this.arrivals.add({ lease, source, ...refreshed });
          arrived();
          if (!(await isAdded)) return;
          await this.undoIfRefused(lease, source, refreshed.copy);
        }
      }
    } finally {
      if (copy !== undefined) cache.settle(copy);
    }
    await this.record(lease, source, { ...done, status: 'ok', lastError: null });
  }

  /** If this node could not compile the new copy, activates the previous copy again and throws a CompileError. */
  private async undoIfRefused(lease: Lease, source: StoredSource, { contentKey }: ListCopy): Promise<void> {
    const { changes, refused } = this.parts;
    const refusal = refusalOf(refused, source, contentKey);
    if (refusal === undefined) return;
    await undoRefused(changes, source, contentKey, lease);
    throw new CompileError(refusal, null);
  }

  /**
   * Stores data and a held update. If the source was deleted, or if its URL or copies have changed since it was read,
   * the result is out of date: returns false, and the list is fetched again.
   */
  private store(
    lease: Lease,
    source: StoredSource,
    facts: SourceFacts,
    copy: ListCopy | undefined,
  ): Promise<boolean> {
    return this.parts.changes.record(async (tx) => {
      await lease.confirm(tx);
      if (copy !== undefined) await storeBlob(tx, copy.contentKey, copy.path);
      const result = await recordFacts(tx, source.id, source.url, facts, source);
      if (!result) await recordFacts(tx, source.id, source.url, { status: 'pending' });
      if (copy !== undefined) await dropUnneededBlobs(tx);
      return { result, summary: null };
    });
  }

  /** Stores data that does not depend on a copy. */
  private record(lease: Lease, { id, url }: StoredSource, facts: SourceFacts): Promise<boolean> {
    return this.parts.database.transaction(async (tx) => {
      await lease.confirm(tx);
      return recordFacts(tx, id, url, facts);
    });
  }

  private now(): Date {
    return new Date(this.parts.clock.nowMs());
  }
}
