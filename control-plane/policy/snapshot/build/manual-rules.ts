/**
 * Compiles manual rules (managed domains, blocked services, regex filters) to small tables, which take precedence over
 * the tables of the lists. A change takes milliseconds, even with 100,000 rows. Rules are stored by owner, which is the
 * group to which they apply or all groups; `policy-table-builder.ts` maps owners to classes.
 */
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { type CompiledRules, seedsOf } from '../../compile/table/compiled-rules.ts';
import type { LivePolicy } from '../../change/runtime-state.ts';
import { type PolicyRegexFilter, type PolicyRows } from '../../change/rows.ts';
import { areSameServices, servicesAt } from '../../change/times.ts';
import { buildManualNames, editManualNames, type ManualNames, type NamedRows } from './manual-names.ts';
import type { TableSeeds } from '../../compile/table/rule-table-builder.ts';
import { CHANGED_FILTERS_BUDGET, FILTERS_BUDGET, type RuleBudget } from '../../compile/table/rule-budget.ts';
import { SpecialRuleSet } from '../../compile/table/special-rule-set.ts';
import { encodeSpecialRules } from '../../compile/table/special-rules-builder.ts';
import { readRegexRule } from '../../../../shared/automata/regex-filter.ts';
import { RememberedAutomata } from '../../../../shared/automata/automaton-maker.ts';
import type { SpecialRule } from '../../../../shared/snapshot/special-rules.ts';

/** The manual tables of a snapshot, with their rules. */
export interface ManualRules extends ManualNames {
  readonly special: SharedArrayBuffer;
  /** Regex filters that exceed the budget and are therefore not active. */
  readonly refused: readonly RefusedFilter[];
}

/** A regex filter that exceeds the budget. */
export interface RefusedFilter {
  readonly id: number;
  readonly pattern: string;
  /** Reason as a part of a sentence. */
  readonly reason: string;
}

/** Automata of the previous filters, so that only changed filters are compiled. */
const automata = new RememberedAutomata();

/** Whether two policies have the same manual rules with the same hashes; equal rows must be the same objects. */
export function isSameForManualRules(a: ManualCauses, b: ManualCauses): boolean {
  const [one, other] = [seedsOf(a.compiled.rules), seedsOf(b.compiled.rules)];
  return (
    one.low === other.low &&
    one.high === other.high &&
    a.rows.managedDomains === b.rows.managedDomains &&
    a.rows.regexFilters === b.rows.regexFilters &&
    areSameServices(servicesOf(a), servicesOf(b))
  );
}

/** Inputs of manual rules. */
interface ManualCauses {
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
  readonly live: Pick<LivePolicy, 'nowMs'>;
}

function servicesOf({ rows, live }: ManualCauses): PolicyRows['blockedServices'] {
  return servicesAt(rows.blockedServices, live.nowMs);
}

/** The previously built manual rules, with their inputs. */
export interface BuiltManual extends ManualCauses {
  readonly manual: ManualRules;
}

/**
 * Compiles the manual rows that are active at `nowMs`; `seeds` are those of the lists' table. Reuses the parts of
 * `before` with the same inputs.
 */
export function buildManualRules(
  rows: PolicyRows,
  nowMs: number,
  seeds: TableSeeds,
  before?: BuiltManual,
): ManualRules {
  const { regexFilters } = rows;
  const held: NamedRows = { ...rows, blockedServices: servicesAt(rows.blockedServices, nowMs) };
  const edited = before && editFrom(before, held, seeds);
  if (edited === undefined) {
    const built = buildManualNames(held, seeds);
    return { ...built, ...buildFilters(regexFilters, built.owners, seeds) };
  }
  // An edit keeps the indexes of owners, so the special rules can be reused.
  if (before !== undefined && before.rows.regexFilters === regexFilters) {
    const { special, refused } = before.manual;
    return { ...edited, special, refused };
  }
  return { ...edited, ...buildFilters(regexFilters, edited.owners, seeds) };
}

function editFrom(before: BuiltManual, held: NamedRows, seeds: TableSeeds): ManualNames | undefined {
  const { low, high } = seedsOf(before.compiled.rules);
  const services = servicesOf(before);
  if (low !== seeds.low || high !== seeds.high || !areSameServices(services, held.blockedServices))
    return undefined;
  return editManualNames(before.manual, { ...before.rows, blockedServices: services }, held);
}

function buildFilters(
  filters: readonly PolicyRegexFilter[],
  owners: readonly (number | null)[],
  seeds: TableSeeds,
): Pick<ManualRules, 'special' | 'refused'> {
  const { set, refused } = placeFilters(filters, owners, FILTERS_BUDGET);
  return { special: encodeSpecialRules(set, seeds), refused };
}

/** Those of `filters` that exceed the budget for changes. */
export function findRefusedFilters(filters: readonly PolicyRegexFilter[]): readonly RefusedFilter[] {
  const owners = [...new Set(filters.map(({ groupId }) => groupId))];
  return placeFilters(filters, owners, CHANGED_FILTERS_BUDGET).refused;
}

/** Adds the filters to a set of special rules; the index of a filter is also the index of its rule. */
function placeFilters(
  filters: readonly PolicyRegexFilter[],
  owners: readonly (number | null)[],
  budget: RuleBudget,
): { set: SpecialRuleSet; refused: RefusedFilter[] } {
  automata.beginRound();
  const set = new SpecialRuleSet(budget, budget, automata);
  const refused: RefusedFilter[] = [];
  for (const { id, groupId, action, pattern } of filters) {
    const read = readRegexRule(pattern);
    const rule: SpecialRule = {
      source: owners.indexOf(groupId),
      line: id,
      kind: action === 'allow' ? RuleKind.ALLOW_SUFFIX : RuleKind.BLOCK_SUFFIX,
      match: 'regex',
      text: 'reason' in read ? pattern : read.expression,
      rule: pattern,
      ...('reason' in read ? {} : read.options),
      ...('forEveryName' in read && read.forEveryName && { forEveryName: true }),
    };
    const reason = 'reason' in read ? read.reason : set.add(rule);
    if (reason === null) continue;
    set.hold(rule);
    refused.push({ id, pattern, reason });
  }
  return { set, refused };
}
