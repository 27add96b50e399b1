/**
 * The life cycle of the list sources on this node: changes from the API are applied, and lists are fetched when they
 * are new, when they are due, and on request. A source changes from `pending` to `updating` to `ok`, `held` or `error`;
 * after any failure, its last good copy stays active. The row of a source identifies its active copy; `active-lists.ts`
 * activates the copy.
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type {
  BlocklistSource,
  SourceCreate,
  SourceUpdate,
  UnusedLine,
} from '../../../shared/api/policy/sources-api.ts';
import type { Author } from '../../api/caller.ts';
import { conflict, invalid } from '../../api/api-error.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { JobLeases } from '../../storage/cluster/leases.ts';
import { readingOfInput } from '../../policy/compile/table/input-key.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import type { FetchLimits } from '../fetch/fetch-limits.ts';
import { CustomRules } from './custom-rules.ts';
import { recheckApproved } from './recheck-copy.ts';
import { refusalOf } from './list-compiler.ts';
import { refuseOtherFolders } from './list-folder.ts';
import type { MostAskedNames } from './list-guard.ts';
import type { FetchBounds, Lookup } from '../fetch/list-host.ts';
import { ListRefresher } from './list-refresher.ts';
import { type ActivationParts, ActiveLists } from './active-lists.ts';
import { refuseMasks, withStoredCredentials } from './source-credentials.ts';
import { toApiSource } from './api-source.ts';
import { listChange, undoRefused, writeContent } from './source-records.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import * as store from './source-store.ts';

/** Dependencies of `ListSources`. */
export interface ListSourcesParts extends ActivationParts {
  readonly changes: PolicyChanges;
  readonly jobs: Pick<JobLeases, 'hold'>;
  /** Name of this node. */
  readonly nodeName: string;
  /** The names with which the guard checks lists. */
  readonly mostAsked: Pick<MostAskedNames, 'names' | 'ofLastDay'>;
  /** `blocking.list_refresh_hours`; read at each check, like `listDirs`. */
  readonly refreshHours: () => number;
  /** `blocking.list_dirs`. */
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  readonly limits?: FetchLimits;
  readonly lookup?: Lookup;
}

/**
 * Milliseconds between two checks for changes by other nodes and for due lists. If a node died while it fetched a list,
 * the list is due again when the lease of the node has expired.
 */
const POLL_MS = 15_000;

/** Manages the list sources. Call `start()` when the database is available; `close()` stops all work in progress. */
export class ListSources {
  private readonly parts: ListSourcesParts;
  private readonly active: ActiveLists;
  private readonly stopping = new AbortController();
  private readonly refresher: ListRefresher;
  /** Lists that users write in Weir. */
  readonly custom: CustomRules;
  /** Running background work; its promises never reject. */
  private readonly background = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: ListSourcesParts) {
    this.parts = parts;
    this.active = new ActiveLists({
      ...parts,
      fetchDue: () => void this.inBackground('look for lists to fetch', this.refreshDue()),
      signal: this.stopping.signal,
    });
    this.custom = new CustomRules({ ...parts, active: this.active });
    this.refresher = new ListRefresher({
      ...parts,
      chooseCopy: (id) => this.active.chooseCopies([id]),
      activate: () => this.active.activate(),
    });
  }

  /**
   * Activates the sources in the database, then fetches due lists in the background, now and periodically. Throws the
   * errors of the database. Call it each time the database becomes available.
   */
  async start(): Promise<void> {
    await this.active.begin();
    await this.parts.copies.giveMissing();
    if (this.stopping.signal.aborted || this.timer !== undefined) return;
    this.timer = setInterval(() => this.check(), POLL_MS);
    this.timer.unref();
    this.check();
  }

  /** Starts a refresh of each enabled source that is due. */
  refreshDue(): Promise<void> {
    return this.refresher.startDue();
  }

  /**
   * Checks immediately for changes by another node, and for due lists; does nothing before `start()`, which runs the
   * same checks.
   */
  checkSoon(): void {
    if (this.timer !== undefined) this.check();
  }

  /** Stops timers, fetches and compilations; resolves when all have ended. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    this.refresher.close();
    await this.active.close();
    await this.idle();
  }

  /** Resolves when no fetch and no compilation is running. */
  async idle(): Promise<void> {
    while (this.background.size > 0) await Promise.all(this.background);
    await this.refresher.idle();
    while (this.background.size > 0) await Promise.all(this.background);
    await this.active.idle();
  }

  /** All sources of a kind, by id. */
  async list(kind: SourceKind): Promise<BlocklistSource[]> {
    return (await store.listSources(this.parts.database, kind)).map((source) => this.shown(source));
  }

  /** One source; throws 404 for an unknown id, like the methods below. */
  async read(kind: SourceKind, id: number, db: Queryable = this.parts.database): Promise<BlocklistSource> {
    return this.shown(await store.readSource(db, id, kind));
  }

  /**
   * Stores a source and starts its first fetch; custom rules are active immediately. Throws 409 for a duplicate, and
   * 400 for a URL that is not permitted.
   */
  async create(
    kind: SourceKind,
    { url, text, ...source }: SourceCreate,
    author: Author,
  ): Promise<BlocklistSource> {
    if (text !== undefined) return this.read(kind, (await this.custom.create(kind, source, text, author)).id);
    if (url === undefined) throw invalid([{ path: 'url', message: 'expected exactly one of url and text' }]);
    await refuseOtherFolders(url, this.parts.listDirs());
    refuseMasks(url);
    // Policy includes the list from now on, although none of its rules is active.
    const created = await this.parts.changes.change(author, async (tx) => {
      const result = await store.insertSource(tx, kind, { ...source, url });
      return { result, summary: listChange(result, codedAction('created')) };
    });
    const toSource = this.shown(created);
    // A node that follows changes of the rows, possibly this one, may already have fetched the list.
    if (created.enabled) void this.refresher.start(created.id, false);
    return toSource;
  }

  /** Changes a source; its copy is active with the new settings when the promise resolves. */
  async update(
    kind: SourceKind,
    id: number,
    { url: given, ...others }: SourceUpdate,
    author: Author,
  ): Promise<BlocklistSource> {
    const change = { ...others, url: given ?? undefined };
    if (change.url !== undefined) await refuseOtherFolders(change.url, this.parts.listDirs());
    const work = async (tx: Queryable) => {
      if (given !== undefined) await refuseOtherForm(tx, kind, id, given);
      const whole = await withStoredCredentials(tx, kind, id, change);
      const source = await store.updateSource(tx, kind, id, whole);
      return { result: source, summary: listChange(source, codedAction('changed')) };
    };
    const { changes, cache } = this.parts;
    const updated = await changes.change(author, work, async (source, apply) => {
      // A running attempt may be for the previous URL.
      if (change.url !== undefined && !source.isKept) this.refresher.stop(id);
      this.parts.refused.remove(id);
      const [chosen = source] = await this.active.chooseCopies([id]);
      if (!this.active.needsCompile(chosen)) return apply();
      return this.active.compileFor(chosen, cache.copyOf(id)?.contentKey);
    });
    const shown = await this.read(kind, id);
    if (updated.enabled && !updated.isKept) void this.refresher.start(id, change.url === undefined);
    return shown;
  }

  /**
   * Activates rows that were written together, if their copies are on disk, and fetches all other lists: local files
   * before the promise resolves, lists from the network in the background. `isNew` returns whether a file has changed.
   */
  async adopt(
    written: readonly StoredSource[],
    isNew: (source: StoredSource) => boolean,
    apply: () => Promise<void>,
  ): Promise<void> {
    const { cache } = this.parts;
    for (const { id } of written) this.parts.refused.remove(id);
    const chosen = await this.active.chooseCopies(written.map(({ id }) => id));
    const changed = chosen.filter((source) => this.active.needsCompile(source));
    if (changed.length === 0) await apply();
    for (const source of changed) await this.active.compileFor(source, cache.copyOf(source.id)?.contentKey);
    const local: Promise<void>[] = [];
    for (const source of written) {
      const { id, url, enabled, isKept } = source;
      if (!enabled || (isKept && !isNew(source))) continue;
      // A node that follows the rows may have looked for the file before it existed.
      if (url.startsWith('file:')) local.push(this.refresher.restart(id));
      else void this.refresher.start(id);
    }
    await Promise.all(local);
  }

  /** Deletes a source; its rules are inactive when the promise resolves. */
  async remove(kind: SourceKind, id: number, author: Author): Promise<void> {
    const work = async (tx: Queryable): Promise<Changed<undefined>> => {
      const name = await store.deleteSource(tx, kind, id);
      return { result: undefined, summary: listChange({ kind, name }, codedAction('deleted')) };
    };
    // Without its row, the list has no effect. The next compilation removes its names from the table.
    await this.parts.changes.change(author, work, (_nothing, apply) => {
      this.refresher.stop(id);
      this.parts.cache.removeCopy(id);
      this.parts.refused.remove(id);
      return apply();
    });
    void this.inBackground('compile lists after a list was deleted', this.active.compact());
  }

  /** Starts a fetch and returns the current state of the source; throws 409 for custom rules. */
  async refresh(kind: SourceKind, id: number, actor: Author): Promise<BlocklistSource> {
    const source = await this.parts.database.transaction(async (tx) => {
      const found = await store.readSource(tx, id, kind);
      if (found.has_text) throw conflict(`${kind}list source ${id} has custom rules, which are not fetched`);
      await recordAudit(tx, { actor, ...listChange(found, codedAction('fetched')) });
      return found;
    });
    // A rejected copy is tried again, because the user may know that the list was not the cause.
    this.parts.refused.remove(id);
    void this.refresher.start(id);
    return this.shown(source);
  }

  /** Starts a fetch of every enabled source of the kind. */
  async refreshAll(kind: SourceKind, actor: Author): Promise<BlocklistSource[]> {
    const sources = await this.parts.database.transaction(async (tx) => {
      const subject = codedSubject(`all_${kind}lists`);
      await recordAudit(tx, { actor, subject, action: codedAction('fetched') });
      return store.listSources(tx, kind);
    });
    for (const { id, enabled, has_text: isCustom } of sources)
      if (enabled && !isCustom) void this.refresher.start(id);
    return sources.map((source) => this.shown(source));
  }

  /** Activates the held update; throws 409 if there is none, or if it has been replaced. */
  async approve(kind: SourceKind, id: number, author: Author): Promise<BlocklistSource> {
    const { database, cache, changes, copies } = this.parts;
    await cache.open();
    const source = await store.readSource(database, id, kind);
    const { heldKey } = source;
    if (heldKey === null) throw conflict(`${kind}list source ${id} has no held update`);
    const copy = await copies.bring(source, heldKey);
    if (copy === undefined)
      throw conflict(`the held update of ${kind}list source ${id} no longer exists; refresh the list`);
    const judged = await recheckApproved(source, copy, this.parts);
    const facts: SourceFacts = { status: 'ok', lastError: null, contentKey: heldKey, heldKey: null, judged };
    const lastChangedAt = new Date(this.parts.clock.nowMs());
    const work = async (tx: Queryable): Promise<Changed<boolean>> => {
      const written = await writeContent(
        tx,
        source,
        { ...facts, lastChangedAt },
        codedAction('held_update_approved'),
      );
      if (!written.result)
        throw conflict(
          `${kind}list source ${id} has changed since it was read; check its current held update`,
        );
      return written;
    };
    await changes.change(author, work, async () => {
      cache.use(id, heldKey);
      this.parts.refused.remove(id);
      await this.active.compileFor(source, heldKey);
      if (refusalOf(this.parts.refused, source, heldKey) !== undefined)
        await undoRefused(changes, source, heldKey);
    });
    return this.read(kind, id);
  }

  /** The first lines of the active copy that give no rule, invalid lines first. */
  async unusedLines(kind: SourceKind, id: number): Promise<UnusedLine[]> {
    await store.readSource(this.parts.database, id, kind);
    const source = this.parts.publisher.current().compiled.sources.find((compiled) => compiled.id === id);
    if (source === undefined) return [];
    return [...source.statistics.invalidSamples, ...source.statistics.skippedSamples];
  }

  /** Line of the first rule of these kinds for `name` in the copy of a source; null if there is none. */
  async findLine(id: number, name: string, kinds: number): Promise<number | null> {
    const { cache, pool, publisher } = this.parts;
    const source = publisher.current().compiled.sources.find((compiled) => compiled.id === id);
    const copy = cache.copyOf(id);
    if (source === undefined || copy === undefined) return null;
    // The source is found in memory, because an explanation must not need the database.
    return pool.findLine({ path: copy.path, reading: readingOfInput(source.inputKey) }, name, kinds);
  }

  /** Activates the rows after a rollback, including their list contents. */
  async activateRestored(): Promise<void> {
    // A running fetch may deliver the content that was just undone.
    this.refresher.stop();
    await this.active.activateRestored();
  }

  private shown(stored: StoredSource): BlocklistSource {
    return toApiSource(stored, this.parts.refused, this.refresher.isAtWork(stored.id));
  }

  private check(): void {
    if (this.parts.database.status().state !== 'up') return; // `start()` runs when the database is back.
    // These run one after another, because in parallel they could use two connections for 10 s of every 15 s.
    const followed = this.inBackground('follow the lists of other nodes', this.active.follow());
    void this.inBackground(
      'look for lists to fetch',
      followed.then(() => this.refreshDue()),
    );
  }

  /** Resolves when the work has ended or failed; failures are logged. */
  private inBackground(what: string, work: Promise<void>): Promise<void> {
    const watched = work
      .catch((error: unknown) => {
        const reason = reasonOf(error);
        this.parts.logger.warn(`could not ${what}`, { reason });
      })
      .finally(() => this.background.delete(watched));
    this.background.add(watched);
    return watched;
  }
}

/** Throws 400 for custom rules with a URL, and for a list that is fetched without one. */
async function refuseOtherForm(
  tx: Queryable,
  kind: SourceKind,
  id: number,
  url: string | null,
): Promise<void> {
  const { has_text: isCustom } = await store.readSource(tx, id, kind);
  if (isCustom === (url === null)) return;
  const message = isCustom ? 'expected null: custom rules have no URL' : 'expected a URL';
  throw invalid([{ path: 'url', message }]);
}
