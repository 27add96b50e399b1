/** Safe search, opened for reading: the engine of a name, and the mode that a group enforces. */
import {
  MAX_SAFE_SEARCH_ENGINES,
  SAFE_SEARCH_MODE_BITS,
  SafeSearchMode,
  type SafeSearchRules,
  type SafeTarget,
} from '../../shared/snapshot/safe-search-modes.ts';
import { NameTable, NOT_FOUND } from './name-table.ts';

const MODE_MASK = (1 << SAFE_SEARCH_MODE_BITS) - 1;

/** Safe search of a snapshot. One per thread and snapshot. */
export class SafeSearchTable {
  /** Engine of each name. */
  private readonly names: NameTable;
  /** Two targets for each engine: the moderate one, then the strict one. */
  private readonly targets: readonly SafeTarget[];
  /** Masks of enforced modes, by index of the group. */
  private readonly masks: Uint32Array;
  private readonly engineIds: readonly string[];

  /** `groupIds`: the ids in the policy table, by index; `seedLow` and `seedHigh`: the seeds of the hashes in queries. */
  constructor(rules: SafeSearchRules, groupIds: readonly number[], seedLow: number, seedHigh: number) {
    const engines = rules.engines.slice(0, MAX_SAFE_SEARCH_ENGINES);
    const numbered = engines.flatMap(({ names }, number) => names.map((name) => ({ name, number })));
    this.names = new NameTable(numbered, seedLow, seedHigh);
    this.targets = engines.flatMap(({ moderate, strict }) => [moderate, strict]);
    this.engineIds = engines.map(({ id }) => id);
    const maskOf = new Map(rules.groups.map(({ id, mask }) => [id, mask]));
    this.masks = Uint32Array.from(groupIds, (id) => maskOf.get(id) ?? 0);
  }

  /** Index of the target of the name with these hash lanes for a group, or NOT_FOUND. */
  find(groupIndex: number, low: number, high: number): number {
    const mask = this.masks[groupIndex]!;
    if (mask === 0) return NOT_FOUND;
    const engine = this.names.find(low, high);
    if (engine === NOT_FOUND) return NOT_FOUND;
    const mode = (mask >>> (engine * SAFE_SEARCH_MODE_BITS)) & MODE_MASK;
    return mode === SafeSearchMode.off ? NOT_FOUND : engine * 2 + mode - 1;
  }

  /** The target with an index from `find`. */
  target(number: number): SafeTarget {
    return this.targets[number]!;
  }

  /** Engine and mode of a target, for explanations. */
  describe(number: number): string {
    return `${this.engineIds[number >>> 1]!} (${number % 2 === 0 ? 'moderate' : 'strict'})`;
  }
}
