/**
 * Builds the table of managed domains and blocked services, either from all rows, or from the previous table and the
 * rows that have changed.
 */
import { randomInt } from 'node:crypto';
import { ManualKind } from '../../../../shared/snapshot/rule-table.ts';
import { packPair } from '../../compile/table/attribute-table.ts';
import { RuleTableBuilder, type TableSeeds } from '../../compile/table/rule-table-builder.ts';
import { RuleTableEditor } from '../../compile/table/rule-table-editor.ts';
import { differingRows } from '../../change/row-differences.ts';
import type { PolicyRows } from '../../change/rows.ts';
import type { ManualMeaning } from './policy-table-builder.ts';

/** The table, and the owners of its rules. */
export interface ManualNames extends ManualMeaning {
  readonly names: SharedArrayBuffer;
}

/** Rows from which the table is built; of `regexFilters`, only the owners are used. */
export type NamedRows = Pick<PolicyRows, 'managedDomains' | 'blockedServices' | 'regexFilters'>;
type Owner = number | null;

/** Maximum share of changed names for which an edit is faster than building the table again. */
const MAX_CHANGED = 0.1;

/** Builds the table; services are the currently active ones. */
export function buildManualNames(rows: NamedRows, seeds: TableSeeds): ManualNames {
  const { managedDomains, blockedServices } = rows;
  const owners = ownersOf(rows);
  const builder = new RuleTableBuilder(seeds);
  for (const [owner, groupId] of owners.entries()) {
    builder.beginSource(owner);
    for (const row of managedDomains) if (row.groupId === groupId) add(builder, row.domain, managedKind(row));
    for (const service of blockedServices)
      if (service.groupId === groupId) forEachName(service, (name, kind) => add(builder, name, kind));
  }
  const { rules, attributes } = builder.finish(newBuild());
  return { names: rules, attributes, owners };
}

/**
 * The table after changes of managed domains and regex filters; `seeds` and the active services must be unchanged.
 * Undefined if the table must be built from scratch.
 */
export function editManualNames(
  before: ManualNames,
  rowsBefore: NamedRows,
  rows: NamedRows,
): ManualNames | undefined {
  const { gone, fresh } = differingRows(rowsBefore.managedDomains, rows.managedDomains);
  if (gone.length + fresh.length > rows.managedDomains.length * MAX_CHANGED) return undefined;
  const owners = [...new Set([...before.owners, ...ownersOf(rows)])];
  const changed = kindsOfNames([...gone, ...fresh], rows, owners);
  const editor = new RuleTableEditor(before.names, before.attributes);
  for (const [name, kinds] of changed) {
    const pairs = [...kinds].sort(([one], [other]) => one - other);
    if (
      !editor.set(
        name,
        pairs.map(([owner, bits]) => packPair(owner, bits)),
      )
    )
      return undefined;
  }
  const table = editor.finish(newBuild());
  return table && { names: table.rules, attributes: table.attributes, owners };
}

/** For each name in the changed rows: the kinds of all rules for this name, by owner. */
function kindsOfNames(
  changed: NamedRows['managedDomains'],
  { managedDomains, blockedServices }: NamedRows,
  owners: readonly Owner[],
): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const found = new Map(changed.map(({ domain }) => [domain, new Map<number, number>()]));
  const note = (name: string, groupId: Owner, kind: number): void => {
    const kinds = found.get(name);
    if (kinds === undefined) return;
    const owner = owners.indexOf(groupId);
    kinds.set(owner, (kinds.get(owner) ?? 0) | kind);
  };
  for (const row of managedDomains) note(row.domain, row.groupId, managedKind(row));
  for (const service of blockedServices)
    forEachName(service, (name, kind) => note(name, service.groupId, kind));
  return found;
}

/** Owners of rules: each group with rules, and null for rules for every group; in the order of their rules. */
function ownersOf({ managedDomains, regexFilters, blockedServices }: NamedRows): Owner[] {
  const owners = new Set<Owner>();
  for (const rows of [managedDomains, regexFilters, blockedServices])
    for (const { groupId } of rows) owners.add(groupId);
  return [...owners];
}

function forEachName(
  { domains, exact }: NamedRows['blockedServices'][number],
  call: (name: string, kind: number) => void,
): void {
  for (const name of domains) call(name, ManualKind.SERVICE_SUFFIX);
  for (const name of exact) call(name, ManualKind.SERVICE_EXACT);
}

function managedKind({ action, suffix }: NamedRows['managedDomains'][number]): number {
  if (action === 'allow') return suffix ? ManualKind.ALLOW_SUFFIX : ManualKind.ALLOW_EXACT;
  return suffix ? ManualKind.DENY_SUFFIX : ManualKind.DENY_EXACT;
}

function add(builder: RuleTableBuilder, name: string, kind: number): void {
  builder.addName(Buffer.from(name, 'latin1'), 0, name.length, kind);
}

/** A random identity of a build, by which threads recognise unchanged rules. */
function newBuild(): number {
  return randomInt(1, 2 ** 32);
}
