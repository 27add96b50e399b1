/**
 * Keeps the rules in force equal to the copies on disk: every enabled source with a good copy is compiled
 * into one table. A burst of changes is one compile, and nothing is compiled that is in force already.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { ListFile } from '../snapshot/compile-job.ts';
import type { CompilePool } from '../snapshot/compile-pool.ts';
import { type CompiledRules, rulesIdOf, seedsOf } from '../snapshot/compiled-rules.ts';
import { Coalescer } from '../snapshot/coalescer.ts';
import type { PolicyInForce } from '../snapshot/policy-in-force.ts';
import type { ListReading } from './line-rules.ts';
import type { ListCache } from './list-cache.ts';
import type { NamesFolder } from './names-folder.ts';
import type { SourceFacts, StoredSource } from './source-store.ts';

/** What a compiler is made of. */
export interface CompilerParts {
  readonly readSources: () => Promise<readonly StoredSource[]>;
  readonly cache: ListCache;
  readonly pool: CompilePool;
  readonly names: NamesFolder;
  readonly policy: PolicyInForce;
  /** The rules in force now. */
  readonly compiled: () => CompiledRules;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A table made before that holds all of these inputs; undefined where there is none. */
  readonly findCompiled: (inputKeys: readonly string[]) => Promise<CompiledRules | undefined>;
  /** Identities of the tables that a rollback may bring back. */
  readonly keptRules: () => Promise<ReadonlySet<string>>;
  /** Contents that must stay on disk, see `ListCache.prune`. */
  readonly neededCopies: () => Promise<ReadonlySet<string>>;
  /** Writes what a compile found out about a source. */
  readonly record: (source: StoredSource, facts: SourceFacts) => Promise<unknown>;
  /** Ends a compile at work. */
  readonly signal: AbortSignal;
}

interface Input extends ListFile {
  readonly id: number;
  readonly inputKey: string;
}

/** Text that makes one name on average is longer than this even in lists that overlap a lot. */
const TEXT_BYTES_PER_NAME = 64;

/** Compiles when there is something to compile. */
export class ListCompiler {
  private readonly parts: CompilerParts;
  private readonly compiler = new Coalescer(() => this.compileNow());
  private isToCompact = false;

  constructor(parts: CompilerParts) {
    this.parts = parts;
  }

  /**
   * Resolves when the database's sources are in force with the copies on disk as they were when this was
   * called, or newer. Throws a CompileError, or what the database throws; the rules in force then stay.
   */
  bringIntoForce(): Promise<void> {
    return this.compiler.run();
  }

  /** The same, and leaves nothing in memory that no enabled source needs. */
  compact(): Promise<void> {
    this.isToCompact = true;
    return this.compiler.run();
  }

  /** Whether a source cannot be in force without a compile. */
  needsCompile(source: StoredSource): boolean {
    const [input] = this.inputsOf([source]);
    return input !== undefined && !this.keysInForce().has(input.inputKey);
  }

  /** Resolves when no compile is at work. */
  idle(): Promise<void> {
    return this.compiler.idle();
  }

  private async compileNow(): Promise<void> {
    const { cache, policy, names } = this.parts;
    await cache.open();
    const sources = await this.parts.readSources();
    const inputs = this.inputsOf(sources);
    const isToCompact = this.isToCompact;
    this.isToCompact = false;
    const keys = this.keysInForce();
    // What was disabled may stay in memory until there is something to compile: it means nothing there, and
    // is back in force at once when it is enabled again.
    const isInForce =
      inputs.every(({ inputKey }) => keys.has(inputKey)) &&
      (inputs.length === 0 || (await names.has(rulesIdOf(this.parts.compiled().rules)))) &&
      !(isToCompact && this.parts.compiled().sources.length > inputs.length);
    if (isInForce) await policy.apply();
    else {
      const before = await this.parts.findCompiled(inputs.map(({ inputKey }) => inputKey));
      const compiled = before ?? (await this.compile(inputs, sources));
      await policy.useRules(compiled);
      await this.recordCounts(compiled, inputs, sources);
    }
    // Only now is nobody reading the copies of before.
    await cache.prune(this.parts.neededCopies);
    const kept = await this.parts.keptRules();
    await names.prune(new Set([...kept, rulesIdOf(this.parts.compiled().rules)]));
  }

  private keysInForce(): ReadonlySet<string> {
    const readable = this.parts.compiled().sources.filter(({ statistics }) => statistics.fault === null);
    return new Set(readable.map(({ inputKey }) => inputKey));
  }

  private async compile(inputs: readonly Input[], sources: readonly StoredSource[]): Promise<CompiledRules> {
    const { clock, pool, names, logger, signal } = this.parts;
    const startedMs = clock.monotonicMs();
    const ids = new Set(inputs.map(({ id }) => id));
    const textBytes = sources.reduce((sum, { id, bytes }) => sum + (ids.has(id) ? bytes : 0), 0);
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

  /** What was counted, where the database says otherwise; a copy that could not be read is fetched anew. */
  private async recordCounts(
    compiled: CompiledRules,
    inputs: readonly Input[],
    sources: readonly StoredSource[],
  ): Promise<void> {
    for (const { id, inputKey, statistics } of compiled.sources) {
      const source = sources.find((candidate) => candidate.id === id);
      const input = inputs.find((candidate) => candidate.inputKey === inputKey);
      if (source === undefined || input === undefined) continue;
      const { rules, invalidLines, format, fault } = statistics;
      if (fault !== null) {
        this.parts.cache.forget(id, input.path);
        await this.parts.record(source, { status: 'error', lastError: fault.message });
      } else if (source.rules !== rules || source.invalid_lines !== invalidLines || source.format !== format)
        await this.parts.record(source, { rules, invalidLines, format });
    }
  }

  private inputsOf(sources: readonly StoredSource[]): Input[] {
    const inputs: Input[] = [];
    for (const source of sources) {
      const copy = this.parts.cache.copyOf(source.id);
      if (!source.enabled || copy === undefined) continue;
      const reading = readingOf(source);
      const inputKey = inputKeyOf(source.id, copy.contentKey, reading);
      inputs.push({ id: source.id, inputKey, path: copy.path, reading });
    }
    return inputs;
  }
}

/** How the list of a source is to be read. */
export function readingOf(source: StoredSource): ListReading {
  return { kind: source.kind, subdomains: source.subdomains };
}

/** Names the text of a list and the way it is read. */
function inputKeyOf(id: number, contentKey: string, { kind, subdomains }: ListReading): string {
  return `${id}-${contentKey}-${kind}${subdomains ? '-subdomains' : ''}`;
}

/** How the list behind an input key was read. */
export function readingOfInput(inputKey: string): ListReading {
  const [, , kind, subdomains] = inputKey.split('-');
  return { kind: kind === 'allow' ? 'allow' : 'block', subdomains: subdomains !== undefined };
}
