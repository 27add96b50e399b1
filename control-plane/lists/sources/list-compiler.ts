/**
 * Keeps the active rules in accordance with the copies on disk: the copies of all enabled sources are compiled into one
 * table. Several changes in quick succession cause only one compilation, and no compilation if the inputs are already
 * active.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { ListFile } from '../../policy/compile/table/compile-job.ts';
import { CompileError, type CompilePool } from '../../policy/compile/table/compile-pool.ts';
import {
  type CompiledRules,
  activeKeys,
  rulesIdOf,
  seedsOf,
} from '../../policy/compile/table/compiled-rules.ts';
import { Coalescer } from '../../storage/concurrency/coalescer.ts';
import type { ActivePolicy } from '../../policy/snapshot/publish/active-policy.ts';
import type { ListReading } from '../../policy/compile/parse/line-rules.ts';
import { changeText, SHORT_TEXT_BYTES } from '../../policy/compile/table/short-text.ts';
import { contentKeyOf, inputKeyOf, readingOfInput } from '../../policy/compile/table/input-key.ts';
import type { ListCache, ListCopy } from './list-cache.ts';
import { isChecked } from './list-guard.ts';
import type { RefusedCopies } from './refused-copies.ts';
import type { NamesFolder } from '../compiled/names-folder.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';

/** Dependencies of the compiler. */
export interface CompilerParts {
  readonly readSources: () => Promise<readonly StoredSource[]>;
  readonly cache: ListCache;
  readonly refused: RefusedCopies;
  readonly pool: CompilePool;
  readonly names: NamesFolder;
  readonly policy: ActivePolicy;
  /** The currently active rules. */
  readonly compiled: () => CompiledRules;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An earlier table with all of these inputs; undefined if no table has them. */
  readonly findCompiled: (inputKeys: readonly string[]) => Promise<CompiledRules | undefined>;
  /** Identities of the tables that a rollback may restore. */
  readonly keptRules: () => Promise<ReadonlySet<string>>;
  /** Content keys that must stay on disk, see `ListCache.prune()`. */
  readonly neededCopies: () => Promise<ReadonlySet<string>>;
  /** Stores the results of a compilation for a source. */
  readonly record: (source: StoredSource, facts: SourceFacts) => Promise<unknown>;
  /** Stops a running compilation. */
  readonly signal: AbortSignal;
}

interface Input extends ListFile {
  readonly id: number;
  readonly contentKey: string;
  readonly inputKey: string;
  /** Size of the text in bytes, if known. */
  readonly bytes: number;
}

/** An active copy, and how it was read. */
interface GoodCopy {
  readonly contentKey: string;
  readonly reading: ListReading;
}

/** Lower bound for the average number of bytes of text per distinct name, even if lists overlap. */
export const TEXT_BYTES_PER_NAME = 64;

/** Compiles lists if an input has changed. */
export class ListCompiler {
  private readonly parts: CompilerParts;
  private readonly compiler = new Coalescer(() => this.compileNow());
  private isToCompact = false;

  constructor(parts: CompilerParts) {
    this.parts = parts;
  }

  /**
   * Resolves when the sources in the database are active, with the copies that were on disk at the time of the call or
   * newer ones. If it throws (a CompileError or an error of the database), the active rules do not change.
   */
  activate(): Promise<void> {
    return this.compiler.run();
  }

  /** Like `activate()`, but also removes rules that no enabled source needs. */
  compact(): Promise<void> {
    this.isToCompact = true;
    return this.compiler.run();
  }

  /** Whether a source can only be activated by compiling. */
  needsCompile(source: StoredSource): boolean {
    const [input] = this.inputsOf([source]);
    return input !== undefined && !activeKeys(this.parts.compiled()).has(input.inputKey);
  }

  /** Resolves when no compilation is running. */
  idle(): Promise<void> {
    return this.compiler.idle();
  }

  private async compileNow(): Promise<void> {
    const { cache, names } = this.parts;
    await cache.open();
    const sources = await this.parts.readSources();
    const isToCompact = this.isToCompact;
    this.isToCompact = false;
    // The loop ends, because each round rejects a copy.
    while (!(await this.isTaken(sources, isToCompact)));
    // Must be done last, because the previous copies were in use until now.
    await cache.prune(this.parts.neededCopies);
    const kept = await this.parts.keptRules();
    await names.prune(new Set([...kept, rulesIdOf(this.parts.compiled().rules)]));
  }

  /**
   * Activates these sources. False if a new copy was unusable and was rejected; the caller must then compile again with
   * the previous copy. Throws a CompileError if no copy is the cause.
   */
  private async isTaken(sources: readonly StoredSource[], isToCompact: boolean): Promise<boolean> {
    const { policy, names } = this.parts;
    const inputs = this.inputsOf(sources);
    const keys = activeKeys(this.parts.compiled());
    // Disabled lists stay in the table until the next compilation: they have no effect, and are active immediately when
    // they are enabled again.
    const isActive =
      inputs.every(({ inputKey }) => keys.has(inputKey)) &&
      (inputs.length === 0 || (await names.has(rulesIdOf(this.parts.compiled().rules)))) &&
      !(isToCompact && this.parts.compiled().sources.length > inputs.length);
    if (isActive) {
      await policy.apply();
      return true;
    }
    const changed = isToCompact ? undefined : await this.changeText(inputs, keys);
    if (changed !== undefined) {
      await policy.useRules(changed);
      await this.recordCounts(changed, inputs, sources);
      return true;
    }
    const before = await this.parts.findCompiled(inputs.map(({ inputKey }) => inputKey));
    let compiled: CompiledRules;
    try {
      compiled = before ?? (await this.compile(inputs));
    } catch (error) {
      if (!(error instanceof CompileError) || error.list === null) throw error;
      const culprit = this.culpritOf(error.list, inputs);
      if (culprit === undefined) throw error;
      this.refuse(culprit, error.message);
      return false;
    }
    await policy.useRules(compiled);
    await this.recordCounts(compiled, inputs, sources);
    return true;
  }

  /**
   * The input that caused a compilation to fail: the list that was being compiled if it is new, or else the largest new
   * list, because the other lists were compiled successfully before.
   */
  private culpritOf(list: number, inputs: readonly Input[]): Input | undefined {
    const keys = activeKeys(this.parts.compiled());
    const isNew = ({ inputKey }: Input): boolean => !keys.has(inputKey);
    const atWork = inputs[list];
    if (atWork !== undefined && isNew(atWork)) return atWork;
    return inputs.filter(isNew).sort((a, b) => b.bytes - a.bytes)[0];
  }

  /**
   * Excludes a copy from compilations on this node, because another node may have more memory. The active copy, if
   * there is one, is used instead. The caller that activated the rejected copy must update the row.
   */
  private refuse({ id, inputKey, path }: Input, reason: string): void {
    const { cache, refused, logger } = this.parts;
    refused.add(id, inputKey, reason);
    const good = this.goodCopyOf(id);
    const active = good === undefined ? 'none of its rules are active' : 'its previous copy stays active';
    logger.error(`rejected a copy of a list; ${active}`, { id, reason });
    if (good === undefined) cache.removeCopy(id, path);
    else cache.use(id, good.contentKey);
  }

  /** The active input of a source, if its copy is still on disk. */
  private goodCopyOf(id: number): GoodCopy | undefined {
    const source = this.parts.compiled().sources.find((candidate) => candidate.id === id);
    if (source === undefined || source.statistics.fault !== null) return undefined;
    const contentKey = contentKeyOf(source.inputKey);
    if (!this.parts.cache.has(id, contentKey)) return undefined;
    return { contentKey, reading: readingOfInput(source.inputKey) };
  }

  /**
   * The active rules, changed for the new text of one source of custom rules; undefined if other inputs have changed
   * too.
   */
  private async changeText(
    inputs: readonly Input[],
    keys: ReadonlySet<string>,
  ): Promise<CompiledRules | undefined> {
    const { cache, clock, logger, names } = this.parts;
    const [input, ...others] = inputs.filter(({ inputKey }) => !keys.has(inputKey));
    if (input?.reading.isCustom !== true || others.length > 0 || input.bytes > SHORT_TEXT_BYTES)
      return undefined;
    const startedMs = clock.monotonicMs();
    const { id, inputKey } = input;
    const compiled = this.parts.compiled();
    const rulesId = rulesIdOf(compiled.rules);
    if (!(await names.has(rulesId))) return undefined;
    const known = compiled.sources.findIndex((source) => source.id === id);
    const keyBefore = compiled.sources[known]?.inputKey;
    const copyBefore = keyBefore === undefined ? undefined : cache.find(id, contentKeyOf(keyBefore));
    if (keyBefore !== undefined && copyBefore === undefined) return undefined;
    const before = copyBefore && { path: copyBefore.path, reading: readingOfInput(keyBefore!) };
    const index = known < 0 ? compiled.sources.length : known;
    const table = await changeText(compiled, { index, before: before ?? null, after: input });
    if (table === undefined) return undefined;
    const { rules, special, attributes, statistics } = table;
    if (!(await names.copy(rulesId, rulesIdOf(rules), table.lines))) return undefined;
    const sources = [...compiled.sources];
    sources[index] = { id, inputKey, statistics };
    const compileMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info('custom rules changed', { id, rules: statistics.rules, compileMs });
    const hasLeftNames = compiled.hasLeftNames === true || table.hasLeftNames;
    return {
      rules,
      special,
      attributes,
      sources,
      compileMs,
      compiledAtMs: clock.nowMs(),
      ...(hasLeftNames && { hasLeftNames }),
    };
  }

  private async compile(inputs: readonly Input[]): Promise<CompiledRules> {
    const { clock, pool, names, logger, signal } = this.parts;
    const startedMs = clock.monotonicMs();
    const textBytes = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
    const namesPath = await names.newStem();
    const lists = inputs.map(({ path, reading }) => ({ path, reading }));
    const { table, special, statistics } = await pool.compile(
      {
        lists,
        namesPath,
        seeds: seedsOf(this.parts.compiled().rules),
        expectedNames: Math.floor(textBytes / TEXT_BYTES_PER_NAME),
      },
      signal,
    );
    await names.adopt(namesPath, rulesIdOf(table.rules));
    const compileMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info('lists compiled', {
      lists: lists.length,
      names: table.nameCount,
      bytes: table.rules.byteLength,
      compileMs,
    });
    return {
      rules: table.rules,
      special,
      attributes: table.attributes,
      sources: inputs.map(({ id, inputKey }, index) => ({ id, inputKey, statistics: statistics[index]! })),
      compiledAtMs: clock.nowMs(),
      compileMs,
    };
  }

  /**
   * Stores counts that differ from those in the database. A copy that could not be read is deleted and fetched again.
   */
  private async recordCounts(
    compiled: CompiledRules,
    inputs: readonly Input[],
    sources: readonly StoredSource[],
  ): Promise<void> {
    const rows = new Map(sources.map((source) => [source.id, source]));
    const byKey = new Map(inputs.map((input) => [input.inputKey, input]));
    for (const { id, inputKey, statistics } of compiled.sources) {
      const source = rows.get(id);
      const input = byKey.get(inputKey);
      if (source === undefined || input === undefined) continue;
      const { rules, invalidLines, format, fault } = statistics;
      if (fault !== null) {
        await this.parts.cache.discard(id, input.path);
        await this.parts.record(source, { status: 'error', lastError: fault.message });
      } else if (source.rules !== rules || source.invalid_lines !== invalidLines || source.format !== format)
        await this.parts.record(source, { rules, invalidLines, format });
    }
  }

  /**
   * Whether a copy may be compiled. A copy that this release has not checked may only be used if it is already active.
   */
  private mayBeRead({ contentKey, judged }: StoredSource, input: Input): boolean {
    if (contentKey === input.contentKey && isChecked(judged, contentKey)) return true;
    return activeKeys(this.parts.compiled()).has(input.inputKey);
  }

  private inputsOf(sources: readonly StoredSource[]): Input[] {
    const inputs: Input[] = [];
    for (const source of sources) {
      const copy = this.parts.cache.copyOf(source.id);
      if (!source.enabled || copy === undefined) continue;
      const input = inputOf(source, copy, readingOf(source));
      if (!this.mayBeRead(source, input)) continue;
      const isRefused = this.parts.refused.reasonFor(source.id, input.inputKey) !== undefined;
      // If the copy is rejected, the active copy is used with its earlier settings, because the new settings may be the
      // cause.
      const good = isRefused ? this.goodCopyOf(source.id) : undefined;
      if (!isRefused) inputs.push(input);
      else if (good?.contentKey === copy.contentKey) inputs.push(inputOf(source, copy, good.reading));
    }
    return inputs;
  }
}

function inputOf({ id, bytes }: StoredSource, { path, contentKey }: ListCopy, reading: ListReading): Input {
  return { id, bytes, path, contentKey, reading, inputKey: inputKeyOf(id, contentKey, reading) };
}

/** How the list of a source is read. */
export function readingOf(source: Pick<StoredSource, 'kind' | 'subdomains' | 'has_text'>): ListReading {
  return { kind: source.kind, subdomains: source.subdomains, isCustom: source.has_text };
}

/** Reason why this node does not compile this content of a source; undefined if the node does compile it. */
export function refusalOf(
  refused: RefusedCopies,
  source: StoredSource,
  contentKey: string,
): string | undefined {
  return refused.reasonFor(source.id, inputKeyOf(source.id, contentKey, readingOf(source)));
}
