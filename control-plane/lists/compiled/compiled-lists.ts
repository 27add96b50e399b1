/**
 * Provides the active rules for browsing: managed domains and regex filters first, then the patterns and conditional
 * rules of lists, then the names of all lists, each with its sources. The names are read from the names file of the
 * active table, their sources from the table itself.
 */
import type {
  CompiledListQuery,
  CompiledRule,
  CompiledRulePage,
} from '../../../shared/api/policy/compiled-lists-api.ts';
import { hashName, nameFromText } from '../../../shared/dns/name.ts';
import { RuleKind, RuleTable } from '../../../shared/snapshot/rule-table.ts';
import { type SpecialRule, readSpecialRules } from '../../../shared/snapshot/special-rules.ts';
import { hasErrorCode } from '../../../shared/errors.ts';
import { dependencyUnavailable } from '../../api/api-error.ts';
import { forEachPairLeft, hasDisabledRules } from '../../policy/compile/table/attribute-table.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';
import { rulesIdOf } from '../../policy/compile/table/compiled-rules.ts';
import { ActiveSources } from '../../policy/snapshot/build/active-sources.ts';
import type { NamesFolder } from './names-folder.ts';
import { countRulesBySource, type RuleCounts } from './rules-by-source.ts';
import { safeSearchExceptions } from './safe-search-exceptions.ts';
import { searchNames } from './names-search.ts';
import type { NamesFound, NamesRequest } from './names-search.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';

const IMPORTANT = { block: RuleKind.IMPORTANT_BLOCK_SUFFIX, allow: RuleKind.IMPORTANT_ALLOW_SUFFIX };
const BELOW = {
  block: RuleKind.BLOCK_SUFFIX | RuleKind.BLOCK_BELOW | RuleKind.IMPORTANT_BLOCK_SUFFIX,
  allow: RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW | RuleKind.IMPORTANT_ALLOW_SUFFIX,
};
const ALL = { block: RuleKind.BLOCK_EXACT | BELOW.block, allow: RuleKind.ALLOW_EXACT | BELOW.allow };

export interface CompiledListsParts {
  readonly current: () => PublishedState;
  readonly names: NamesFolder;
}

/** Pages of the active rules. */
export class CompiledLists {
  private readonly parts: CompiledListsParts;
  private read: { readonly buffer: SharedArrayBuffer; readonly rules: readonly SpecialRule[] } | undefined;
  private counted:
    { readonly state: PublishedState; readonly counts: ReadonlyMap<number, RuleCounts> } | undefined;
  private exceptions:
    { readonly state: PublishedState; readonly names: ReadonlyMap<number, readonly string[]> } | undefined;

  constructor(parts: CompiledListsParts) {
    this.parts = parts;
  }

  /** The rules of each active list, see `countRulesBySource()`; counted once per published state. */
  rulesBySource(): ReadonlyMap<number, RuleCounts> {
    const state = this.parts.current();
    if (this.counted?.state !== state)
      this.counted = { state, counts: countRulesBySource(state, this.specialRules(state)) };
    return this.counted.counts;
  }

  /** Names that each list exempts from safe search, see `safeSearchExceptions()`; computed once per published state. */
  safeSearchExceptions(): ReadonlyMap<number, readonly string[]> {
    const state = this.parts.current();
    if (this.exceptions?.state !== state) this.exceptions = { state, names: safeSearchExceptions(state) };
    return this.exceptions.names;
  }

  /** One page of blocking or of allow rules. */
  async page(kind: SourceKind, { limit, offset, search }: CompiledListQuery): Promise<CompiledRulePage> {
    const state = this.parts.current();
    const needle = asWritten(search ?? '');
    const lines = new LineReader(kind, state);
    const first = [...manualRules(kind, state.rows), ...lines.specialRules(this.specialRules(state))];
    const texts = first.filter(({ domain }) => domain.toLowerCase().includes(needle));
    const rows = texts.slice(offset, offset + limit);
    const found = await this.search(kind, state, {
      from: Math.max(0, offset - texts.length),
      count: limit - rows.length,
      search: needle,
      counts: lines.areAllActive ? undefined : (line) => lines.read(line) !== null,
    });
    for (const line of found.lines) {
      const rule = lines.read(line);
      if (rule !== null) rows.push(rule);
    }
    return {
      data: rows,
      total: texts.length + found.total,
      limit,
      offset,
      total_is_estimate: found.isEstimate,
    };
  }

  /** The active special rules; read once per compilation and cached. */
  private specialRules({ compiled: { special } }: PublishedState): readonly SpecialRule[] {
    if (this.read?.buffer !== special) this.read = { buffer: special, rules: readSpecialRules(special) };
    return this.read.rules;
  }

  /** Throws 503 while the names of the active table are not on disk, which the next compilation writes. */
  private async search(
    kind: SourceKind,
    { compiled }: PublishedState,
    request: NamesRequest,
  ): Promise<NamesFound> {
    if (compiled.sources.length === 0) return { lines: [], total: 0, isEstimate: false };
    try {
      return await searchNames(this.parts.names.pathsOf(rulesIdOf(compiled.rules))[kind], request);
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error;
      const headers = { 'Retry-After': '1' };
      throw dependencyUnavailable(
        'compiled_names',
        'the list of active names is being written; try again later',
        {
          headers,
          cause: error,
        },
      );
    }
  }
}

/** Converts compiled rules for the API. */
class LineReader {
  /**
   * Whether every compiled source is enabled, has no `$badfilter` rules and skips no line, so that every line is
   * active.
   */
  readonly areAllActive: boolean;
  private readonly kind: SourceKind;
  private readonly state: PublishedState;
  private readonly active: ActiveSources;
  private readonly disables = (by: number, source: number): boolean => this.active.disablesForAll(by, source);
  private readonly table: RuleTable;
  private readonly hash = { low: 0, high: 0 };

  constructor(kind: SourceKind, state: PublishedState) {
    this.kind = kind;
    this.state = state;
    this.table = new RuleTable(state.compiled.rules);
    this.active = new ActiveSources(state.compiled, state.rows);
    const { attributes } = state.compiled;
    this.areAllActive =
      this.active.areAll &&
      state.compiled.hasLeftNames !== true &&
      !attributes.nameCounts.some((_, attribute) => hasDisabledRules(attributes, attribute));
  }

  /** The rule of a name; null if no enabled source has it. */
  read(name: string): CompiledRule | null {
    const wire = nameFromText(name);
    if (wire === null) return null;
    const { table, hash, kind } = this;
    hashName(wire, 0, table.seedLow, table.seedHigh, hash);
    const attribute = table.find(hash.low, hash.high);
    if (attribute < 0) return null;
    const sources: string[] = [];
    let kinds = 0;
    forEachPairLeft(this.state.compiled.attributes, attribute, this.disables, (index, bits) => {
      const source = this.active.nameOf(index);
      if (source === null || (bits & ALL[kind]) === 0) return;
      sources.push(source);
      kinds |= bits;
    });
    if (sources.length === 0) return null;
    return {
      domain: name,
      match: (kinds & BELOW[kind]) === 0 ? 'exact' : 'subdomains',
      important: (kinds & IMPORTANT[kind]) !== 0,
      sources,
    };
  }

  /** Converts special rules of lists. */
  specialRules(rules: readonly SpecialRule[]): CompiledRule[] {
    const shown: CompiledRule[] = [];
    for (const { source, kind, match, rule, takenBackBy } of rules) {
      const name = this.active.nameOf(source);
      if (name === null || (kind & ALL[this.kind]) === 0) continue;
      if (takenBackBy?.some((by) => this.disables(by, source)) === true) continue;
      shown.push({
        domain: rule,
        match: match === 'regex' ? 'regex' : 'pattern',
        important: (kind & IMPORTANT[this.kind]) !== 0,
        sources: [name],
      });
    }
    return shown;
  }
}

function manualRules(kind: SourceKind, { managedDomains, regexFilters }: PolicyRows): CompiledRule[] {
  const action = kind === 'block' ? 'deny' : 'allow';
  const domains = managedDomains
    .filter((rule) => rule.action === action)
    .map(({ domain, suffix, name }): CompiledRule => ({
      domain,
      match: suffix ? 'subdomains' : 'exact',
      important: true,
      sources: [name],
    }));
  const regexes = regexFilters
    .filter((rule) => rule.action === action)
    .map(({ pattern, name }): CompiledRule => ({
      domain: pattern,
      match: 'regex',
      important: true,
      sources: [name],
    }));
  return [...domains, ...regexes];
}

/** Converts a search text to the form in which names are stored: in lower case and as A-labels. */
function asWritten(search: string): string {
  // eslint-disable-next-line no-control-regex -- all of ASCII is what this looks for
  if (/^[\u0000-\u007f]*$/.test(search) || !URL.canParse(`http://${search}/`)) return search.toLowerCase();
  return new URL(`http://${search}/`).hostname;
}
