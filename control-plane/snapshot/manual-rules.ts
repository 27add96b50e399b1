/**
 * Compiles what people set by hand (managed domains, blocked services, regex filters) into the small tables
 * that lie over those of the lists: milliseconds, at every publication. Rules are kept by owner, which is
 * the group they are for; `policy-table-builder.ts` says which class each owner's rules serve.
 */
import { randomInt } from 'node:crypto';
import { RuleKind, ManualKind } from '../../shared/snapshot/rule-table.ts';
import { type CompiledRules, type PolicyRows, seedsOf } from './compiled-rules.ts';
import type { ManualMeaning } from './policy-table-builder.ts';
import { RuleTableBuilder, type TableSeeds } from './rule-table-builder.ts';
import { buildSpecialRules } from './special-rules-builder.ts';

/** The manual tables of a snapshot, and what they mean. */
export interface ManualRules extends ManualMeaning {
  readonly names: SharedArrayBuffer;
  readonly special: SharedArrayBuffer;
}

/** Whether two policies have the same manual rules, hashed alike; equal rows are the same arrays. */
export function isSameForManualRules(a: ManualCauses, b: ManualCauses): boolean {
  const [one, other] = [seedsOf(a.compiled.rules), seedsOf(b.compiled.rules)];
  return (
    one.low === other.low &&
    one.high === other.high &&
    a.rows.managedDomains === b.rows.managedDomains &&
    a.rows.regexFilters === b.rows.regexFilters &&
    a.rows.blockedServices === b.rows.blockedServices
  );
}

/** What manual rules depend on. */
interface ManualCauses {
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
}

/** Compiles the manual rows; `seeds` are those of the lists' table. */
export function buildManualRules(rows: PolicyRows, seeds: TableSeeds): ManualRules {
  const { managedDomains, regexFilters, blockedServices } = rows;
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
  // By which threads see that they need not open these rules again.
  const { rules, attributes } = builder.finish(randomInt(1, 2 ** 32));
  const special = regexFilters.map((row) => ({
    source: owners.indexOf(row.groupId),
    line: row.id,
    kind: row.action === 'allow' ? RuleKind.ALLOW_SUFFIX : RuleKind.BLOCK_SUFFIX,
    match: 'regex' as const,
    text: row.pattern,
    rule: row.pattern,
  }));
  return { names: rules, attributes, owners, special: buildSpecialRules(special, seeds) };
}

function managedKind(row: PolicyRows['managedDomains'][number]): number {
  if (row.action === 'allow') return row.suffix ? ManualKind.ALLOW_SUFFIX : ManualKind.ALLOW_EXACT;
  return row.suffix ? ManualKind.DENY_SUFFIX : ManualKind.DENY_EXACT;
}

function add(builder: RuleTableBuilder, domain: string, kind: number): void {
  builder.addName(Buffer.from(domain, 'latin1'), 0, domain.length, kind);
}
