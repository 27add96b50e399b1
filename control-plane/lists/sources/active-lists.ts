/**
 * Applies the rows of the list sources on this node: selects the copy to which each row refers, even if another node
 * fetched it, and compiles the copies. If this fails, the previous rules stay active, and the work is retried. Only the
 * rows determine which copy is active, never the files of this node.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { CompileError } from '../../policy/compile/table/compile-pool.ts';
import type { CompilePool } from '../../policy/compile/table/compile-pool.ts';
import { type CompiledRules, activeKeys, seedsOf } from '../../policy/compile/table/compiled-rules.ts';
import { Retrying } from '../../storage/concurrency/retrying.ts';
import type { Database } from '../../storage/db/database.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { neededCopies } from '../../policy/change/revision-store.ts';
import type { Generations } from '../../policy/snapshot/publish/generations.ts';
import type { ActivePolicy } from '../../policy/snapshot/publish/active-policy.ts';
import type { SnapshotPublisher } from '../../policy/snapshot/publish/publisher.ts';
import type { NamesFolder } from '../compiled/names-folder.ts';
import { recheckCopy, needsRecheck } from './recheck-copy.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import { ListCompiler, refusalOf } from './list-compiler.ts';
import type { RefusedCopies } from './refused-copies.ts';
import type { SharedCopies } from './shared-copies.ts';
import { recordSource } from './source-records.ts';
import { type StoredSource, listSources } from './source-store.ts';

/** Parts of the node that activate lists. */
export interface ActivationParts {
  readonly database: Database;
  readonly cache: ListCache;
  readonly copies: SharedCopies;
  readonly refused: RefusedCopies;
  readonly pool: CompilePool;
  /** Names files of the compiled rules. */
  readonly names: NamesFolder;
  readonly policy: ActivePolicy;
  readonly publisher: SnapshotPublisher;
  /** Earlier rules on disk, with which a rollback needs no compilation. */
  readonly generations: Pick<Generations, 'findRules' | 'rulesIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The parts above, with additions for the life cycle of the sources. */
export interface ActiveListsParts extends ActivationParts {
  readonly changes: PolicyChanges;
  /** Starts to fetch sources of which no node has a copy. */
  readonly fetchDue: () => void;
  /** Stops a running compilation. */
  readonly signal: AbortSignal;
}

/** Keeps the active lists in accordance with the rows. */
export class ActiveLists {
  private readonly parts: ActiveListsParts;
  private readonly compiler: ListCompiler;
  /** Retries changes of rows that are not active yet. */
  private readonly retrying: Retrying;

  constructor(parts: ActiveListsParts) {
    this.parts = parts;
    this.compiler = new ListCompiler({
      ...parts,
      readSources: () => listSources(parts.database),
      compiled: () => parts.publisher.current().compiled,
      keptRules: () => parts.generations.rulesIds(),
      findCompiled: (keys) => this.findCompiled(keys),
      neededCopies: () => neededCopies(parts.database),
      record: (source, facts) => recordSource(parts.database, source, facts),
    });
    this.retrying = new Retrying({
      work: () => this.takeOverRows(),
      logger: parts.logger,
      what: 'apply stored lists',
    });
  }

  /** Applies the rows at start, and removes rules that no enabled source needs. */
  async begin(): Promise<void> {
    await this.chooseAll();
    await this.compileOrKeep(this.compiler.compact());
  }

  /** Applies changes that other nodes have made. */
  follow(): Promise<void> {
    return this.orRetry(async () => {
      const { sources, hasLess } = await this.chooseAll();
      if (hasLess) await this.compileOrKeep(this.compiler.compact());
      else if (sources.some((source) => this.needsCompile(source)))
        await this.compileOrKeep(this.compiler.activate());
    });
  }

  /**
   * Selects the copies in the rows of these sources, after checking copies that this release has not checked yet. If
   * the copy of a row is not stored anywhere, the previous copy stays active. The rows are read here, because rows of
   * the caller may be older than a copy that a change has just selected.
   */
  async chooseCopies(ids?: readonly number[]): Promise<readonly StoredSource[]> {
    const { cache, database } = this.parts;
    await cache.open();
    const checked = new Set<string>();
    for (;;) {
      const { choices } = cache;
      const rows = await listSources(database);
      const sources = ids === undefined ? rows : rows.filter(({ id }) => ids.includes(id));
      let hasChecked = false;
      for (const source of sources) {
        const copy = await this.bring(source);
        const key = `${source.id} ${source.contentKey}`;
        if (copy === undefined || !needsRecheck(source) || checked.has(key)) continue;
        checked.add(key);
        await recheckCopy(source, copy, this.parts);
        hasChecked = true;
      }
      if (hasChecked || cache.choices !== choices) continue;
      for (const source of sources) this.choose(source);
      return sources;
    }
  }

  /** Activates the current copies; throws a CompileError. */
  activate(): Promise<void> {
    return this.compiler.activate();
  }

  /** Removes rules that no enabled source needs. */
  compact(): Promise<void> {
    return this.compiler.compact();
  }

  /** Whether a source can only be activated by compiling. */
  needsCompile(source: StoredSource): boolean {
    return this.compiler.needsCompile(source);
  }

  /** Activates the rows after a rollback, including their list contents. */
  activateRestored(): Promise<void> {
    return this.orRetry(() => this.takeOverRows());
  }

  /** Activates this content of a source; if compiling fails or rejects the copy, the reason is stored in its row. */
  async compileFor(source: StoredSource, contentKey: string | undefined): Promise<void> {
    const failed = await this.orRetry(() => this.compileOrKeep(this.compiler.activate()));
    const refused = contentKey === undefined ? undefined : refusalOf(this.parts.refused, source, contentKey);
    const fault = failed ?? refused;
    if (fault !== undefined)
      await recordSource(this.parts.database, source, { status: 'error', lastError: fault });
  }

  /** Resolves when no compilation is running. */
  idle(): Promise<void> {
    return this.compiler.idle();
  }

  /** Ends the retries. */
  close(): Promise<void> {
    return this.retrying.close();
  }

  /** Activates the copies in the rows, and fetches copies that no node has. */
  private async takeOverRows(): Promise<void> {
    await this.chooseAll();
    await this.compileOrKeep(this.compiler.activate());
    this.parts.fetchDue();
  }

  /** Selects the copies in all rows, and removes copies of deleted sources. */
  private async chooseAll(): Promise<{ sources: readonly StoredSource[]; hasLess: boolean }> {
    const { cache } = this.parts;
    const sources = await this.chooseCopies();
    const known = new Set(sources.map(({ id }) => id));
    const gone = cache.ids().filter((id) => !known.has(id));
    for (const id of gone) cache.removeCopy(id);
    return { sources, hasLess: gone.length > 0 };
  }

  /** Loads the copy of a row from the database, unless it is on disk or rejected. */
  private async bring(source: StoredSource): Promise<ListCopy | undefined> {
    const { contentKey } = source;
    if (contentKey === null || refusalOf(this.parts.refused, source, contentKey) !== undefined)
      return undefined;
    return this.parts.copies.bring(source, contentKey);
  }

  private choose(source: StoredSource): void {
    const { cache, refused } = this.parts;
    const { id, contentKey, heldKey } = source;
    if (contentKey === null) {
      cache.removeCopy(id);
      return;
    }
    if (refusalOf(refused, source, contentKey) !== undefined) return;
    if (!cache.use(id, contentKey) && cache.copyOf(id)?.contentKey === heldKey) cache.removeCopy(id);
  }

  /** Applies a stored change; on failure schedules retries and throws the error. */
  private async orRetry<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.retrying.soon();
      throw error;
    }
  }

  /** Waits for a compilation; if the compilation fails, logs the reason and applies policy with the previous rules. */
  private async compileOrKeep(compile: Promise<void>): Promise<string | undefined> {
    try {
      await compile;
      return undefined;
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      this.parts.logger.error('could not compile lists; the previous rules stay active', {
        reason: error.message,
      });
      await this.parts.policy.apply();
      return error.message;
    }
  }

  /** Finds rules on disk that have exactly these inputs and the hash seeds of the answer cache. */
  private async findCompiled(inputKeys: readonly string[]): Promise<CompiledRules | undefined> {
    const { generations, publisher } = this.parts;
    const found = await generations.findRules((sources) => {
      const keys = activeKeys({ sources });
      return sources.length === inputKeys.length && inputKeys.every((key) => keys.has(key));
    });
    if (found === undefined) return undefined;
    const ours = seedsOf(publisher.current().compiled.rules);
    const { low, high } = seedsOf(found.rules);
    return low === ours.low && high === ours.high ? found : undefined;
  }
}
