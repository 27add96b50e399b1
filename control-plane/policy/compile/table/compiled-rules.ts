/** The result of a compilation, and its identity. */
import { RuleTableLayout as L } from '../../../../shared/snapshot/layout.ts';
import { LIST_READING, type ListStatistics } from '../parse/list-statistics.ts';
import type { AttributeTable } from './attribute-table.ts';

/** One source in a rule table; its index in the array is its source index. */
export interface CompiledSource {
  /** `list_sources.id`. */
  readonly id: number;
  /** Identifies the bytes of the list and how they were read; inputs with equal keys compile to equal rules. */
  readonly inputKey: string;
  readonly statistics: ListStatistics;
}

/** A rule table with all data needed to interpret it. */
export interface CompiledRules {
  readonly rules: SharedArrayBuffer;
  /** Patterns and conditional rules, see `shared/snapshot/special-rules.ts`. */
  readonly special: SharedArrayBuffer;
  readonly attributes: AttributeTable;
  readonly sources: readonly CompiledSource[];
  /** Time of the compilation in Unix milliseconds; 0 for the empty table. */
  readonly compiledAtMs: number;
  readonly compileMs: number;
  /** Present if the names files may still contain names whose rules were removed. */
  readonly hasLeftNames?: true;
}

/**
 * Identity of a rule table: the random word of its build, checksum and counts, as 56 hexadecimal digits. It includes
 * every header word on which readers depend.
 */
export function rulesIdOf(rules: SharedArrayBuffer): string {
  const header = new Uint32Array(rules, 0, L.HEADER_WORDS);
  return [
    L.BUILD_WORD,
    L.SEED_LOW_WORD,
    L.SEED_HIGH_WORD,
    L.CHECKSUM_WORD,
    L.NAME_COUNT_WORD,
    L.ATTRIBUTE_COUNT_WORD,
    L.BUCKET_COUNT_WORD,
  ]
    .map((word) => header[word]!.toString(16).padStart(8, '0'))
    .join('');
}

/** Input keys of the lists that could be read, and that this release would read in the same way. */
export function activeKeys({ sources }: Pick<CompiledRules, 'sources'>): ReadonlySet<string> {
  const readable = sources.filter(
    ({ statistics: { fault, reading } }) => fault === null && reading === LIST_READING,
  );
  return new Set(readable.map(({ inputKey }) => inputKey));
}

/**
 * Seeds of the hashes of a table's names. Later tables use the same seeds, because the answer cache also uses these
 * hashes.
 */
export function seedsOf(rules: SharedArrayBuffer): { readonly low: number; readonly high: number } {
  const header = new Int32Array(rules, 0, L.HEADER_WORDS);
  return { low: header[L.SEED_LOW_WORD]!, high: header[L.SEED_HIGH_WORD]! };
}

/** Clients that the rules of a table identify by MAC or by name. */
export function clientNamesOf({ sources }: Pick<CompiledRules, 'sources'>): string[] {
  return [...new Set(sources.flatMap(({ statistics }) => statistics.clientNames))];
}
