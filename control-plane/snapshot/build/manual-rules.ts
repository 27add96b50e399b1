/**
 * Compiles what people set by hand (managed domains, blocked services, regex filters) into small tables that outrank
 * those of the lists; takes milliseconds, at every publication. Rules are stored by owner, the groups they are for;
 * `policy-table-builder.ts` maps owners to classes.
 */
import { randomInt } from 'node:crypto';
import { RuleKind, ManualKind } from '../../../shared/snapshot/rule-table.ts';
import { type CompiledRules, seedsOf } from '../../compile/table/compiled-rules.ts';
import type { LivePolicy } from '../../policy/live.ts';
import { type PolicyRegexFilter, type PolicyRows } from '../../policy/rows.ts';
import { areSameServices, servicesAt } from '../../policy/times.ts';
import type { ManualMeaning } from './policy-table-builder.ts';
import { RuleTableBuilder, type TableSeeds } from '../../compile/table/rule-table-builder.ts';
import { CHANGED_FILTERS_BUDGET, FILTERS_BUDGET, type RuleBudget } from '../../compile/table/rule-budget.ts';
import { SpecialRuleSet } from '../../compile/table/special-rule-set.ts';
import { encodeSpecialRules } from '../../compile/table/special-rules-builder.ts';
import { readRegexRule } from '../../../shared/automata/regex-filter.ts';
import { RememberedAutomata } from '../../../shared/automata/automaton-maker.ts';
import type { SpecialRule } from '../../../shared/snapshot/special-rules.ts';

/** The manual tables of a snapshot, with their rules. */
export interface ManualRules extends ManualMeaning {
  readonly names: SharedArrayBuffer;
  readonly special: SharedArrayBuffer;
  /** Regex filters over the budget, which are not in force. */
  readonly refused: readonly RefusedFilter[];
}

/** A regex filter that exceeds the budget. */
export interface RefusedFilter {
  readonly id: number;
  readonly pattern: string;
  /** Text for the middle of a sentence. */
  readonly reason: string;
}

/** Cache of the previous filters, so that only changed ones are compiled. */
const automata = new RememberedAutomata();

/** Whether two policies have the same manual rules, hashed alike; equal rows are the same objects. */
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

/** What manual rules depend on. */
interface ManualCauses {
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
  readonly live: Pick<LivePolicy, 'nowMs'>;
}

function servicesOf({ rows, live }: ManualCauses): PolicyRows['blockedServices'] {
  return servicesAt(rows.blockedServices, live.nowMs);
}

/** Compiles the manual rows that hold at `nowMs`; `seeds` are those of the lists' table. */
export function buildManualRules(rows: PolicyRows, nowMs: number, seeds: TableSeeds): ManualRules {
  const { managedDomains, regexFilters } = rows;
  const blockedServices = servicesAt(rows.blockedServices, nowMs);
  const owners = [
    ...new Set([...managedDomains, ...regexFilters, ...blockedServices].map((row) => row.groupId)),
  ];
  const builder = new RuleTableBuilder(seeds);
  for (const [owner, groupId] of owners.entries()) {
    builder.beginSource(owner);
    for (const row of managedDomains) if (row.groupId === groupId) add(builder, row.domain, managedKind(row));
    for (const service of blockedServices) {
      if (service.groupId !== groupId) continue;
      for (const domain of service.domains) add(builder, domain, ManualKind.SERVICE_SUFFIX);
      for (const domain of service.exact) add(builder, domain, ManualKind.SERVICE_EXACT);
    }
  }
  // Lets threads recognise unchanged rules.
  const { rules, attributes } = builder.finish(randomInt(1, 2 ** 32));
  const { set, refused } = placeFilters(regexFilters, owners, FILTERS_BUDGET);
  return { names: rules, attributes, owners, special: encodeSpecialRules(set, seeds), refused };
}

/** The filters of a change that exceed the budget. */
export function findRefusedFilters(filters: readonly PolicyRegexFilter[]): readonly RefusedFilter[] {
  const owners = [...new Set(filters.map(({ groupId }) => groupId))];
  return placeFilters(filters, owners, CHANGED_FILTERS_BUDGET).refused;
}

/** The index of a filter is the index of its rule. */
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

function managedKind(row: PolicyRows['managedDomains'][number]): number {
  if (row.action === 'allow') return row.suffix ? ManualKind.ALLOW_SUFFIX : ManualKind.ALLOW_EXACT;
  return row.suffix ? ManualKind.DENY_SUFFIX : ManualKind.DENY_EXACT;
}

function add(builder: RuleTableBuilder, domain: string, kind: number): void {
  builder.addName(Buffer.from(domain, 'latin1'), 0, domain.length, kind);
}
