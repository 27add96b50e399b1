/**
 * The life of the blocklist sources on this node: what the API changes is brought into force, and lists are
 * fetched when they are new, when they are due, and when somebody asks. A source moves from `pending` over
 * `updating` to `ok` or `error`; whatever goes wrong, its last good copy stays in force.
 */
import type { BlocklistSource, SourceCreate, SourceUpdate } from '../../shared/api/sources.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { Database } from '../db/database.ts';
import { CompileError } from '../snapshot/compile-pool.ts';
import type { CompilePool } from '../snapshot/compile-pool.ts';
import type { PolicyInForce } from '../snapshot/policy-in-force.ts';
import type { SnapshotPublisher } from '../snapshot/publisher.ts';
import type { FetchLimits } from './fetch-limits.ts';
import type { LineSample } from './list-statistics.ts';
import type { ListCache } from './list-cache.ts';
import { ListCompiler } from './list-compiler.ts';
import type { Lookup } from './list-host.ts';
import { isDue } from './refresh-schedule.ts';
import { refreshSource } from './refresh-source.ts';
import type { SourceLife } from './source-life-port.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import * as store from './source-store.ts';
import { Turnstile } from './turnstile.ts';

/** What the life of lists is made of. */
export interface ListLifeParts {
  readonly database: Database;
  readonly cache: ListCache;
  readonly pool: CompilePool;
  readonly policy: PolicyInForce;
  readonly publisher: SnapshotPublisher;
  /** `blocking.list_refresh_hours`; asked at each look, as `listDirs` is. */
  readonly refreshHours: () => number;
  /** `blocking.list_dirs`. */
  readonly listDirs: () => readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: FetchLimits;
  readonly lookup?: Lookup;
}

/** Fetches at once. */
const CONCURRENT_FETCHES = 4;
/** Between two looks for lists that are due. */
const LOOK_MS = 60_000;

/** See above. `start()` once the database is up; `close()` ends all that is at work. */
export class ListLife implements SourceLife {
  private readonly parts: ListLifeParts;
  private readonly compiler: ListCompiler;
  private readonly stopping = new AbortController();
  private readonly turnstile = new Turnstile(CONCURRENT_FETCHES);
  /** Refreshes at work or waiting for their turn, by source. */
  private readonly refreshes = new Map<
    number,
    { readonly done: Promise<void>; readonly abort: AbortController }
  >();
  /** Failures in a row, by source. */
  private readonly failures = new Map<number, number>();
  /** Everything that goes on in the background; none of it rejects. */
  private readonly background = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: ListLifeParts) {
    this.parts = parts;
    this.compiler = new ListCompiler({
      readSources: () => store.listSources(parts.database),
      compiled: () => parts.publisher.current().compiled,
      cache: parts.cache,
      pool: parts.pool,
      policy: parts.policy,
      clock: parts.clock,
      logger: parts.logger,
      record: (source, facts) => this.record(source, facts),
      signal: this.stopping.signal,
    });
  }

  /**
   * Brings what the database says into force from the copies on disk, then fetches what is due, now and from
   * now on, in the background. Throws what the database throws. To be called each time the database comes up.
   */
  async start(): Promise<void> {
    const { cache, database } = this.parts;
    await cache.open();
    const cached = cache.ids();
    const known = new Set((await store.listSources(database)).map(({ id }) => id));
    for (const id of cached) if (!known.has(id)) cache.forget(id);
    await this.compileOrKeep(this.compiler.compact());
    if (this.stopping.signal.aborted || this.timer !== undefined) return;
    this.timer = setInterval(() => this.inBackground('look for due lists', this.refreshDue()), LOOK_MS);
    this.timer.unref();
    this.inBackground('look for due lists', this.refreshDue());
  }

  /** Stops timers, fetches and compiles; resolves when nothing is at work any more. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.idle();
  }

  /** Resolves when no fetch and no compile is at work. */
  async idle(): Promise<void> {
    while (this.background.size > 0) await Promise.all(this.background);
    await this.compiler.idle();
  }

  async list(): Promise<BlocklistSource[]> {
    return (await store.listSources(this.parts.database)).map((source) => this.shown(source));
  }

  async read(id: number): Promise<BlocklistSource> {
    return this.shown(await store.readSource(this.parts.database, id));
  }

  async create(source: SourceCreate): Promise<BlocklistSource> {
    const created = await this.parts.database.transaction((tx) => store.insertSource(tx, source));
    const shown = this.shown(created);
    if (created.enabled) void this.startRefresh(created.id);
    return shown;
  }

  async update(id: number, change: SourceUpdate): Promise<BlocklistSource> {
    const updated = await this.parts.database.transaction((tx) => store.updateSource(tx, id, change));
    const hasCopy = this.parts.cache.isOf(id, updated.url);
    // An attempt at work may be for the URL of before.
    if (change.url !== undefined && !hasCopy) this.refreshes.get(id)?.abort.abort();
    if (this.compiler.needsCompile(updated)) {
      const fault = await this.compileOrKeep(this.compiler.bringIntoForce());
      if (fault !== undefined) await this.record(updated, { status: 'error', lastError: fault });
    } else await this.parts.policy.apply();
    const shown = await this.read(id);
    if (updated.enabled && !hasCopy) void this.startRefresh(id);
    return shown;
  }

  async remove(id: number): Promise<void> {
    await store.deleteSource(this.parts.database, id);
    this.refreshes.get(id)?.abort.abort();
    this.failures.delete(id);
    this.parts.cache.forget(id);
    // Without its row it means nothing at once; its names leave the table with the next compile.
    await this.parts.policy.apply();
    this.inBackground('compile without removed list', this.compiler.compact());
  }

  async refresh(id: number): Promise<BlocklistSource> {
    const source = await store.readSource(this.parts.database, id);
    void this.startRefresh(id);
    return this.shown(source);
  }

  async refreshAll(): Promise<BlocklistSource[]> {
    const sources = await store.listSources(this.parts.database);
    for (const { id, enabled } of sources) if (enabled) void this.startRefresh(id);
    return sources.map((source) => this.shown(source));
  }

  /** Refreshes a source and resolves when that has ended, well or not; joins one that is at work. */
  startRefresh(id: number): Promise<void> {
    const known = this.refreshes.get(id);
    if (known !== undefined && !known.abort.signal.aborted) return known.done;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.stopping.signal]);
    const done = this.turnstile
      .pass(() => this.refreshNow(id, signal))
      .catch((error: unknown) =>
        this.parts.logger.warn('refresh list failed', { id, reason: reasonOf(error) }),
      )
      .finally(() => {
        if (this.refreshes.get(id)?.abort === abort) this.refreshes.delete(id);
      });
    this.refreshes.set(id, { done, abort });
    this.watch(done);
    return done;
  }

  /** Starts a refresh of each enabled source that is due. */
  async refreshDue(): Promise<void> {
    const { clock, database, cache } = this.parts;
    for (const source of await store.listSources(database)) {
      if (!source.enabled || this.stopping.signal.aborted) continue;
      const failures = this.failures.get(source.id) ?? 0;
      const isAsStored = source.status === 'ok' && cache.isOf(source.id, source.url);
      // What failed, or was not finished, before this start is tried at once.
      const lastMs = failures > 0 || isAsStored ? Date.parse(source.last_checked_at ?? '') : NaN;
      const attempts = { lastMs: Number.isNaN(lastMs) ? undefined : lastMs, failures };
      if (isDue(attempts, clock.nowMs(), this.parts.refreshHours())) void this.startRefresh(source.id);
    }
  }

  /** The first lines of a source in force that made no rule, invalid ones first. */
  unusedLines(id: number): readonly LineSample[] {
    const source = this.parts.publisher.current().compiled.sources.find((compiled) => compiled.id === id);
    return source === undefined
      ? []
      : [...source.statistics.invalidSamples, ...source.statistics.skippedSamples];
  }

  /** Waits for a compile; where lists cannot be compiled, brings policy alone into force and says why. */
  private async compileOrKeep(compile: Promise<void>): Promise<string | undefined> {
    try {
      await compile;
      return undefined;
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      this.parts.logger.error('compile lists: the rules before stay in force', { reason: error.message });
      await this.parts.policy.apply();
      return error.message;
    }
  }

  private async refreshNow(id: number, signal: AbortSignal): Promise<void> {
    const { database, clock, logger } = this.parts;
    signal.throwIfAborted();
    const source = await store.readSource(database, id);
    await this.record(source, { status: 'updating' });
    try {
      const { facts, isNew } = await refreshSource(source, this.parts, signal);
      const now = new Date(clock.nowMs());
      // Before the compile: should that fail, what is on disk is known all the same.
      await this.record(source, { ...facts, ...(isNew ? { lastChangedAt: now } : {}) });
      if (source.enabled) await this.compiler.bringIntoForce();
      this.failures.delete(id);
      await this.record(source, { status: 'ok', lastError: null, lastCheckedAt: now });
      logger.info(isNew ? 'list updated' : 'list unchanged', {
        id,
        name: source.name,
        rules: facts.rules ?? source.rules,
      });
    } catch (error) {
      if (signal.aborted) {
        // Not its fault, and not finished: the next look tries again.
        await this.record(source, { status: source.status === 'updating' ? 'pending' : source.status });
        return;
      }
      this.failures.set(id, (this.failures.get(id) ?? 0) + 1);
      logger.warn('list not updated; its last copy stays in force', {
        id,
        name: source.name,
        reason: reasonOf(error),
      });
      await this.record(source, {
        status: 'error',
        lastError: reasonOf(error),
        lastCheckedAt: new Date(clock.nowMs()),
      });
    }
  }

  /** As the API shows it: what waits for its turn to be fetched counts as being fetched. */
  private shown({ lastModified: _, ...source }: StoredSource): BlocklistSource {
    return this.refreshes.has(source.id) ? { ...source, status: 'updating' } : source;
  }

  /** Facts about a URL that the source no longer has are nobody's. */
  private async record(source: StoredSource, facts: SourceFacts): Promise<void> {
    await store.recordFacts(this.parts.database, source.id, source.url, facts);
  }

  private inBackground(what: string, work: Promise<void>): void {
    this.watch(
      work.catch((error: unknown) => this.parts.logger.warn(`${what} failed`, { reason: reasonOf(error) })),
    );
  }

  /** `work` never rejects. */
  private watch(work: Promise<void>): void {
    const watched = work.finally(() => this.background.delete(watched));
    this.background.add(watched);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
