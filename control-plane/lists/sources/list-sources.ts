/**
 * The life of the list sources on this node: changes from the API are put into force, and lists are fetched when they
 * are new, when they are due, and on request. A source moves from `pending` over `updating` to `ok`, `held` or `error`;
 * on any failure its last good copy stays in force. The row of a source names that copy.
 */
import { reasonOf } from '../../../shared/thrown.ts';
import type {
  BlocklistSource,
  SourceCreate,
  SourceUpdate,
  UnusedLine,
} from '../../../shared/api/policy/sources-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { conflict } from '../../api/api-error.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { Retrying } from '../../concurrency/retrying.ts';
import type { Changed, PolicyChanges } from '../../policy/change.ts';
import { neededCopies } from '../../policy/revision-store.ts';
import { CompileError } from '../../compile/table/compile-pool.ts';
import type { CompilePool } from '../../compile/table/compile-pool.ts';
import { seedsOf } from '../../compile/table/compiled-rules.ts';
import type { CompiledRules } from '../../compile/table/compiled-rules.ts';
import type { Generations } from '../../snapshot/publish/generations.ts';
import type { PolicyInForce } from '../../snapshot/publish/policy-in-force.ts';
import type { SnapshotPublisher } from '../../snapshot/publish/publisher.ts';
import type { FetchLimits } from '../fetch/fetch-limits.ts';
import type { ListCache } from './list-cache.ts';
import { ListCompiler, inputKeyOf, readingOf, readingOfInput } from './list-compiler.ts';
import { refuseOtherFolders } from './list-folder.ts';
import type { MostAskedNames } from './list-guard.ts';
import type { FetchBounds, Lookup } from '../fetch/list-host.ts';
import type { NamesFolder } from '../compiled/names-folder.ts';
import { ListRefresher } from './list-refresher.ts';
import { refuseMasks, withStoredCredentials } from './source-credentials.ts';
import { RefusedCopies } from './refused-copies.ts';
import { recordSource, writeContent } from './source-records.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import * as store from './source-store.ts';

/** Parts of the list sources. */
export interface ListSourcesParts {
  readonly database: Database;
  readonly cache: ListCache;
  readonly pool: CompilePool;
  /** Text of the compiled rules. */
  readonly names: NamesFolder;
  readonly policy: PolicyInForce;
  readonly changes: PolicyChanges;
  readonly publisher: SnapshotPublisher;
  /** Earlier rules, for a rollback without a compile. */
  readonly generations: Pick<Generations, 'findRules' | 'rulesIds'>;
  /** The names that the guard checks. */
  readonly mostAsked: Pick<MostAskedNames, 'names'>;
  /** `blocking.list_refresh_hours`; read at each check, like `listDirs`. */
  readonly refreshHours: () => number;
  /** `blocking.list_dirs`. */
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: FetchLimits;
  readonly lookup?: Lookup;
}

/** Milliseconds between two checks for lists that are due. */
const LOOK_MS = 60_000;

/** Runs the list sources of this node. Call `start()` once the database is up; `close()` ends all work in progress. */
export class ListSources {
  private readonly parts: ListSourcesParts;
  private readonly compiler: ListCompiler;
  private readonly refused: RefusedCopies;
  private readonly stopping = new AbortController();
  private readonly refresher: ListRefresher;
  /** All other background work; none of it rejects. */
  private readonly background = new Set<Promise<void>>();
  /** Retries changes of rows that are not in force yet. */
  private readonly retrying: Retrying;
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: ListSourcesParts) {
    this.parts = parts;
    this.refused = new RefusedCopies(parts.clock);
    this.compiler = new ListCompiler({
      readSources: () => store.listSources(parts.database),
      compiled: () => parts.publisher.current().compiled,
      cache: parts.cache,
      refused: this.refused,
      pool: parts.pool,
      names: parts.names,
      keptRules: () => parts.generations.rulesIds(),
      policy: parts.policy,
      clock: parts.clock,
      logger: parts.logger,
      findCompiled: (keys) => this.findCompiled(keys),
      neededCopies: () => neededCopies(parts.database),
      record: (source, facts) => recordSource(parts.database, source, facts),
      signal: this.stopping.signal,
    });
    this.retrying = new Retrying({
      work: () => this.takeOverRows(),
      logger: parts.logger,
      what: 'put stored lists into force',
    });
    this.refresher = new ListRefresher({
      ...parts,
      refused: this.refused,
      bringIntoForce: () => this.compiler.bringIntoForce(),
    });
  }

  /**
   * Puts the database's sources into force from the copies on disk, then fetches due lists in the background, now and
   * periodically. Throws what the database throws. Call it each time the database comes up.
   */
  async start(): Promise<void> {
    const { cache, database } = this.parts;
    await cache.open();
    const sources = await store.listSources(database);
    const known = new Set(sources.map(({ id }) => id));
    for (const id of cache.ids()) if (!known.has(id)) cache.forget(id);
    for (const source of sources) await this.chooseCopy(source);
    await this.compileOrKeep(this.compiler.compact());
    if (this.stopping.signal.aborted || this.timer !== undefined) return;
    this.timer = setInterval(() => this.lookForDue(), LOOK_MS);
    this.timer.unref();
    this.lookForDue();
  }

  /** Starts a refresh of each enabled source that is due. */
  refreshDue(): Promise<void> {
    return this.refresher.startDue();
  }

  /** Stops timers, fetches and compiles; resolves when all have ended. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    this.refresher.close();
    await this.retrying.close();
    await this.idle();
  }

  /** Resolves when no fetch and no compile is running. */
  async idle(): Promise<void> {
    while (this.background.size > 0) await Promise.all(this.background);
    await this.refresher.idle();
    while (this.background.size > 0) await Promise.all(this.background);
    await this.compiler.idle();
  }

  /** All sources of a kind, in the order of their ids. */
  async list(kind: SourceKind): Promise<BlocklistSource[]> {
    return (await store.listSources(this.parts.database, kind)).map((source) => this.shown(source));
  }

  /** One source; 404 for an unknown id, here and below. */
  async read(kind: SourceKind, id: number): Promise<BlocklistSource> {
    return this.shown(await store.readSource(this.parts.database, id, kind));
  }

  /** Stores a source and starts its first fetch; 409 for a duplicate, 400 for a URL that is not permitted. */
  async create(kind: SourceKind, source: SourceCreate, author: string): Promise<BlocklistSource> {
    await refuseOtherFolders(source.url, this.parts.listDirs());
    refuseMasks(source.url);
    // Policy knows the list from now on, though none of its rules is in force.
    const created = await this.parts.changes.change(author, async (tx) => {
      const result = await store.insertSource(tx, kind, source);
      return { result, summary: `${kind}list ${result.name}: created` };
    });
    const shown = this.shown(created);
    if (created.enabled) void this.refresher.start(created.id);
    return shown;
  }

  /** Changes a source; its copy is in force under the new settings when the promise resolves. */
  async update(kind: SourceKind, id: number, change: SourceUpdate, author: string): Promise<BlocklistSource> {
    if (change.url !== undefined) await refuseOtherFolders(change.url, this.parts.listDirs());
    const work = async (tx: Queryable) => {
      const whole = await withStoredCredentials(tx, kind, id, change);
      const source = await store.updateSource(tx, kind, id, whole);
      const hasCopy = this.parts.cache.isOf(id, source.url);
      return { result: { source, hasCopy }, summary: `${kind}list ${source.name}: changed` };
    };
    const { changes, cache } = this.parts;
    const updated = await changes.change(author, work, async ({ source, hasCopy }, apply) => {
      // A running attempt may be for the previous URL.
      if (change.url !== undefined && !hasCopy) this.refresher.stop(id);
      this.refused.forget(id);
      if (!this.compiler.needsCompile(source)) return apply();
      return this.compileFor(source, cache.copyOf(id)?.contentKey);
    });
    const shown = await this.read(kind, id);
    if (updated.source.enabled && !updated.hasCopy) void this.refresher.start(id);
    return shown;
  }

  /** Removes a source; its rules are out of force when the promise resolves. */
  async remove(kind: SourceKind, id: number, author: string): Promise<void> {
    const work = async (tx: Queryable): Promise<Changed<undefined>> => {
      const name = await store.deleteSource(tx, kind, id);
      return { result: undefined, summary: `${kind}list ${name}: deleted` };
    };
    // Without its row the list has no effect; the next compile removes its names.
    await this.parts.changes.change(author, work, (_nothing, apply) => {
      this.refresher.forget(id);
      this.parts.cache.forget(id);
      this.refused.forget(id);
      return apply();
    });
    this.inBackground('compile without removed list', this.compiler.compact());
  }

  /** Starts a fetch and returns the source as it stands. */
  async refresh(kind: SourceKind, id: number): Promise<BlocklistSource> {
    const source = await store.readSource(this.parts.database, id, kind);
    // A person asked, who may know that the list was not at fault.
    this.refused.forget(id);
    void this.refresher.start(id);
    return this.shown(source);
  }

  /** Starts a fetch of every enabled source of the kind. */
  async refreshAll(kind: SourceKind): Promise<BlocklistSource[]> {
    const sources = await store.listSources(this.parts.database, kind);
    for (const { id, enabled } of sources) if (enabled) void this.refresher.start(id);
    return sources.map((source) => this.shown(source));
  }

  /** Puts the held copy into force; 409 if there is none. */
  async approve(kind: SourceKind, id: number, author: string): Promise<BlocklistSource> {
    const { database, cache } = this.parts;
    await cache.open();
    const source = await store.readSource(database, id, kind);
    const { heldKey } = source;
    if (heldKey === null) throw conflict(`${kind}list source ${id} holds no copy back`);
    if (!cache.has(id, heldKey))
      throw conflict(
        `the held copy of ${kind}list source ${id} is not on this node's disk; refresh the list`,
      );
    const facts: SourceFacts = { status: 'ok', lastError: null, contentKey: heldKey, heldKey: null };
    const lastChangedAt = new Date(this.parts.clock.nowMs());
    const work = (tx: Queryable): Promise<Changed<boolean>> =>
      writeContent(tx, source, { ...facts, lastChangedAt }, 'held copy approved');
    await this.parts.changes.change(author, work, () => {
      cache.use(id, heldKey);
      this.refused.forget(id);
      return this.compileFor(source, heldKey);
    });
    return this.read(kind, id);
  }

  /** The first lines in force that made no rule, invalid ones first. */
  async unusedLines(kind: SourceKind, id: number): Promise<UnusedLine[]> {
    await store.readSource(this.parts.database, id, kind);
    const source = this.parts.publisher.current().compiled.sources.find((compiled) => compiled.id === id);
    if (source === undefined) return [];
    return [...source.statistics.invalidSamples, ...source.statistics.skippedSamples];
  }

  /** Line of the first rule of these kinds at `name` in the copy of a source; null if there is none. */
  async findLine(id: number, name: string, kinds: number): Promise<number | null> {
    const { cache, pool, publisher } = this.parts;
    const source = publisher.current().compiled.sources.find((compiled) => compiled.id === id);
    const copy = cache.copyOf(id);
    if (source === undefined || copy === undefined) return null;
    // From memory: an explanation must not need the database.
    return pool.findLine({ path: copy.path, reading: readingOfInput(source.inputKey) }, name, kinds);
  }

  /** Puts the rows after a rollback into force, including their list contents. */
  async bringBack(): Promise<void> {
    // A running fetch may be of the content that was just undone.
    this.refresher.stop();
    await this.despiteFailure(() => this.takeOverRows());
  }

  /** Puts the copies that the rows name into force, and fetches missing ones. */
  private async takeOverRows(): Promise<void> {
    const { cache, database } = this.parts;
    await cache.open();
    const sources = await store.listSources(database);
    for (const source of sources) await this.chooseCopy(source);
    await this.compileOrKeep(this.compiler.bringIntoForce());
    for (const { id, url, enabled } of sources)
      if (enabled && !cache.isOf(id, url)) void this.refresher.start(id);
  }

  /** Puts this content of a source into force; if the compile fails or refuses the copy, its row has the reason. */
  private async compileFor(source: StoredSource, contentKey: string | undefined): Promise<void> {
    const failed = await this.despiteFailure(() => this.compileOrKeep(this.compiler.bringIntoForce()));
    const refused =
      contentKey === undefined
        ? undefined
        : this.refused.reasonFor(source.id, inputKeyOf(source.id, contentKey, readingOf(source)));
    const fault = failed ?? refused;
    if (fault !== undefined)
      await recordSource(this.parts.database, source, { status: 'error', lastError: fault });
  }

  /** Puts a stored change into force; on failure schedules retries and throws the error. */
  private async despiteFailure<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.retrying.soon();
      throw error;
    }
  }

  /** Waits for a compile; if it fails, puts policy alone into force and logs the reason. */
  private async compileOrKeep(compile: Promise<void>): Promise<string | undefined> {
    try {
      await compile;
      return undefined;
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      this.parts.logger.error('compile lists failed: the previous rules stay in force', {
        reason: error.message,
      });
      await this.parts.policy.apply();
      return error.message;
    }
  }

  /** Selects the copy that the row names; if it is not on disk, updates the row to the existing one. */
  private async chooseCopy(source: StoredSource): Promise<void> {
    const { cache, database } = this.parts;
    const { id, contentKey, heldKey } = source;
    if (contentKey !== null && cache.use(id, contentKey)) return;
    const copy = cache.copyOf(id);
    if (copy === undefined) return;
    if (copy.contentKey === heldKey) cache.forget(id);
    else await recordSource(database, source, { contentKey: copy.contentKey });
  }

  /** Rules on disk with exactly these inputs and the hash seeds of the answer cache. */
  private async findCompiled(inputKeys: readonly string[]): Promise<CompiledRules | undefined> {
    const { generations, publisher } = this.parts;
    const found = await generations.findRules((sources) => {
      const readable = sources.filter(({ statistics }) => statistics.fault === null);
      const keys = new Set(readable.map(({ inputKey }) => inputKey));
      return sources.length === inputKeys.length && inputKeys.every((key) => keys.has(key));
    });
    if (found === undefined) return undefined;
    const ours = seedsOf(publisher.current().compiled.rules);
    const { low, high } = seedsOf(found.rules);
    return low === ours.low && high === ours.high ? found : undefined;
  }

  /** The source for the API: without credentials, and with a queued fetch shown as updating. */
  private shown(stored: StoredSource): BlocklistSource {
    const { lastModified: _modified, kind: _kind, contentKey: _content, heldKey: _held, ...source } = stored;
    const shown = { ...source, url: shownUrl(source.url) };
    return this.refresher.isAtWork(source.id) ? { ...shown, status: 'updating' } : shown;
  }

  private lookForDue(): void {
    this.inBackground('look for due lists', this.refreshDue());
  }

  private inBackground(what: string, work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => {
        const reason = reasonOf(error);
        this.parts.logger.warn(`${what} failed`, { reason });
      })
      .finally(() => this.background.delete(watched));
    this.background.add(watched);
  }
}
