/**
 * The objects of a plan that can be merged into the current settings, in the form of the database; all others are
 * refused.
 */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { WrittenLocalRecord } from '../../../../shared/policy/local-record.ts';
import type { BackupItems } from '../../backup/backup-items.ts';
import type { Item } from '../../backup/backup-kind.ts';
import { MERGED_KINDS, type MergedKind } from '../../backup/merge-items.ts';
import { readRecord } from '../../../filtering/local-names/read-record.ts';
import type { RecordFields } from '../../../filtering/local-names/record-store.ts';
import type { ImportPlan, Thing } from '../plan/import-plan.ts';
import type { ImportOutcomes } from './import-outcomes.ts';
import type { ListFile } from './kept-lists.ts';

/** An object, and the items of the file from which it was made. */
export interface PlannedThing {
  readonly item: Item;
  readonly origin: readonly number[];
}

/** Data that decides whether an object can be merged. */
export interface MergeInto {
  readonly current: BackupItems;
  readonly files: readonly ListFile[];
  readonly configRecords: readonly WrittenLocalRecord[];
  /** Finds built-in and custom services. */
  readonly isService: (id: string) => boolean;
}

/** The mergeable objects, by kind. */
export function plannedThings(
  plan: ImportPlan,
  into: MergeInto,
  outcomes: ImportOutcomes,
): Map<MergedKind, readonly PlannedThing[]> {
  const { document, origins, lists } = plan;
  const configuration = Object.entries(document.configuration).map(([key, value]) => ({ key, value }));
  const found = new Map<MergedKind, readonly PlannedThing[]>();
  for (const { name } of MERGED_KINDS) {
    const items: readonly Item[] = name === 'configuration' ? configuration : document[name];
    found.set(
      name,
      items.map((item, index) => ({ item, origin: origins[name][index]! })),
    );
  }
  const sources = into.files.map(({ source, url, items }) => {
    return { item: { ...source, url, text: null }, origin: items };
  });
  found.set('list_sources', [...found.get('list_sources')!, ...sources]);
  if (lists.length > into.files.length)
    for (const { items } of lists) outcomes.refuse(items, importReason('no_list_dir'));
  found.set('local_records', withoutConflicts(found.get('local_records')!, into, outcomes));
  found.set('blocked_services', knownServices(plan, found.get('blocked_services')!, into, outcomes));
  return found;
}

/** Local records in stored form, except records that contradict others. */
function withoutConflicts(
  things: readonly PlannedThing[],
  { current, configRecords }: MergeInto,
  outcomes: ImportOutcomes,
): PlannedThing[] {
  const names = new NamesInUse();
  const stored = (current.get('local_records') ?? []) as unknown as readonly RecordFields[];
  const known = new Set(stored.map(keyOfRecord));
  for (const record of stored) names.add(nameOf(record));
  for (const record of configRecords) names.add(record);
  return things.flatMap(({ item, origin }) => {
    const record = readRecord(item, null, '');
    const fault = known.has(keyOfRecord(record)) ? null : names.faultOf(nameOf(record));
    if (fault !== null) {
      outcomes.refuse(origin, fault);
      return [];
    }
    names.add(nameOf(record));
    return [{ item: { ...record }, origin }];
  });
}

function nameOf({ fqdn, record_type: type, value }: RecordFields): Name {
  return { fqdn, type, value };
}

function keyOfRecord({ fqdn, record_type: type, value }: RecordFields): string {
  return `${fqdn} ${type} ${value}`;
}

/** Blocked services with ids that Weir knows; the id in the file is tried first. */
function knownServices(
  { serviceAliases }: ImportPlan,
  things: readonly PlannedThing[],
  { isService }: MergeInto,
  outcomes: ImportOutcomes,
): PlannedThing[] {
  return things.flatMap(({ item, origin }) => {
    const { service_id: id } = item as Thing<'blocked_services'>;
    const known = [id, serviceAliases[id]].find((one) => one !== undefined && isService(one));
    if (known !== undefined) return [{ item: { ...item, service_id: known }, origin }];
    outcomes.refuse(origin, importReason('unknown_service', { service: id }));
    return [];
  });
}

type Name = Pick<WrittenLocalRecord, 'fqdn' | 'type' | 'value'>;

/** Names of local records, to ensure that an alias is the only record of its name and never leads back to itself. */
class NamesInUse {
  private readonly names = new Set<string>();
  private readonly aliases = new Map<string, string>();

  add({ fqdn, type, value }: Name): void {
    this.names.add(fqdn);
    if (type === 'CNAME') this.aliases.set(fqdn, value);
  }

  /** Reason why a record cannot be added; null = it can. */
  faultOf({ fqdn, type, value }: Name): ImportReason | null {
    if (type !== 'CNAME')
      return this.aliases.has(fqdn) ? importReason('already_alias', { name: fqdn }) : null;
    if (this.names.has(fqdn)) return importReason('alias_beside_records', { name: fqdn });
    for (let at: string | undefined = value; at !== undefined; at = this.aliases.get(at))
      if (at === fqdn) return importReason('alias_loop', { name: fqdn });
    return null;
  }
}
