/**
 * Brings the rows of the sources into force on this node: selects the copy that each row names and has them compiled.
 * If that fails, the rules before stay, the reason goes into the row, and the work is tried again.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { CompileError } from '../../compile/table/compile-pool.ts';
import type { CompilePool } from '../../compile/table/compile-pool.ts';
import { type CompiledRules, seedsOf } from '../../compile/table/compiled-rules.ts';
import { Retrying } from '../../concurrency/retrying.ts';
import type { Database } from '../../db/database.ts';
import { neededCopies } from '../../policy/revision-store.ts';
import type { Generations } from '../../snapshot/publish/generations.ts';
import type { PolicyInForce } from '../../snapshot/publish/policy-in-force.ts';
import type { SnapshotPublisher } from '../../snapshot/publish/publisher.ts';
import type { NamesFolder } from '../compiled/names-folder.ts';
import type { ListCache } from './list-cache.ts';
import { ListCompiler, inputKeyOf, readingOf } from './list-compiler.ts';
import type { RefusedCopies } from './refused-copies.ts';
import { recordSource } from './source-records.ts';
import { type StoredSource, listSources } from './source-store.ts';

/** Parts of the node that lists come into force with. */
export interface ForceParts {
  readonly database: Database;
  readonly cache: ListCache;
  readonly pool: CompilePool;
  /** Text of the compiled rules. */
  readonly names: NamesFolder;
  readonly policy: PolicyInForce;
  readonly publisher: SnapshotPublisher;
  /** Earlier rules, for a rollback without a compile. */
  readonly generations: Pick<Generations, 'findRules' | 'rulesIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The same, with what the life of the sources adds. */
export interface ListsInForceParts extends ForceParts {
  readonly refused: RefusedCopies;
  /** Starts a fetch of a source whose copy is missing. */
  readonly fetch: (id: number) => void;
  /** Stops a running compile. */
  readonly signal: AbortSignal;
}

/** Keeps what is in force equal to the rows. */
export class ListsInForce {
  private readonly parts: ListsInForceParts;
  private readonly compiler: ListCompiler;
  /** Retries changes of rows that are not in force yet. */
  private readonly retrying: Retrying;

  constructor(parts: ListsInForceParts) {
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
      what: 'put stored lists into force',
    });
  }

  /** Puts these sources into force from the copies on disk, without rules that no enabled one needs. */
  async begin(sources: readonly StoredSource[]): Promise<void> {
    for (const source of sources) await this.chooseCopy(source);
    await this.compileOrKeep(this.compiler.compact());
  }

  /** Puts the current copies into force; throws a CompileError. */
  bringIntoForce(): Promise<void> {
    return this.compiler.bringIntoForce();
  }

  /** Drops rules that no enabled source needs. */
  compact(): Promise<void> {
    return this.compiler.compact();
  }

  /** Whether a source cannot be in force without a compile. */
  needsCompile(source: StoredSource): boolean {
    return this.compiler.needsCompile(source);
  }

  /** Puts the rows after a rollback into force, including their list contents. */
  bringBack(): Promise<void> {
    return this.orRetry(() => this.takeOverRows());
  }

  /** Puts this content of a source into force; if the compile fails or refuses the copy, its row has the reason. */
  async compileFor(source: StoredSource, contentKey: string | undefined): Promise<void> {
    const failed = await this.orRetry(() => this.compileOrKeep(this.compiler.bringIntoForce()));
    const refused =
      contentKey === undefined
        ? undefined
        : this.parts.refused.reasonFor(source.id, inputKeyOf(source.id, contentKey, readingOf(source)));
    const fault = failed ?? refused;
    if (fault !== undefined)
      await recordSource(this.parts.database, source, { status: 'error', lastError: fault });
  }

  /** Resolves when no compile is running. */
  idle(): Promise<void> {
    return this.compiler.idle();
  }

  /** Ends the retries. */
  close(): Promise<void> {
    return this.retrying.close();
  }

  /** Puts the copies that the rows name into force, and fetches missing ones. */
  private async takeOverRows(): Promise<void> {
    const { cache, database } = this.parts;
    await cache.open();
    const sources = await listSources(database);
    for (const source of sources) await this.chooseCopy(source);
    await this.compileOrKeep(this.compiler.bringIntoForce());
    for (const { id, url, enabled } of sources) if (enabled && !cache.isOf(id, url)) this.parts.fetch(id);
  }

  /** Puts a stored change into force; on failure schedules retries and throws the error. */
  private async orRetry<T>(work: () => Promise<T>): Promise<T> {
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
}
