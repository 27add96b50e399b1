/**
 * What an import would make in Weir: entities by their natural keys, and the items of the file that they come from.
 * Every importer makes one; `apply/` writes it, whoever it comes from. Plain data, as it crosses from a thread.
 */
import type { ImportFormat, ImportItemKind } from '../../../shared/api/imports-api.ts';
import type { SafeSearchEngineData } from '../../../shared/api/policy/safe-search-api.ts';
import type { DnsSettingsChange } from '../../../shared/api/settings-api.ts';
import type { LocalRecordType } from '../../../shared/policy/local-record.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';

/** Stands for Weir's group Default among the names of groups; no group has an empty name. */
export const DEFAULT_GROUP = '';

/** One thing of the file, for the report. */
export interface PlanItem {
  readonly kind: ImportItemKind;
  readonly name: string;
  /** What is known without looking into Weir; null = what happens to the entities made of it. */
  readonly result: 'not_mapped' | 'skipped' | null;
  readonly reason: string | null;
}

/** Indexes of the items that an entity is made of. */
interface FromItems {
  readonly items: readonly number[];
}

/** Names of groups; null = every group. */
type Groups = readonly string[] | null;

export interface PlannedGroup extends FromItems {
  readonly name: string;
  readonly enabled: boolean;
  readonly comment: string;
}

export interface PlannedSource extends FromItems {
  readonly kind: SourceKind;
  readonly url: string;
  /** Of custom rules, whose URL names them for the next import; else null. */
  readonly text: string | null;
  readonly name: string;
  readonly enabled: boolean;
  readonly comment: string;
  readonly subdomains: boolean;
  readonly groups: Groups;
}

/** A list that Weir keeps as a file of its own, below a folder of `blocking.list_dirs`. */
export interface PlannedList extends FromItems {
  readonly kind: SourceKind;
  /** Of the file; the same for the same list at the next import. */
  readonly fileName: string;
  readonly text: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly subdomains: boolean;
  readonly groups: Groups;
}

export interface PlannedRule extends FromItems {
  readonly table: 'managed_domains' | 'regex_filters';
  /** The domain or the pattern. */
  readonly text: string;
  readonly action: 'allow' | 'deny';
  readonly groups: Groups;
  readonly comment: string;
  readonly enabled: boolean;
}

export interface PlannedRecord extends FromItems {
  readonly fqdn: string;
  readonly type: LocalRecordType;
  readonly value: string;
  readonly ttlSecs: number;
}

export interface PlannedZone extends FromItems {
  readonly zone: string;
  readonly servers: readonly string[];
  readonly enabled: boolean;
}

/** A client by its MAC, or without one by its address, or by its key alone. */
export interface PlannedClient extends FromItems {
  readonly mac: string | null;
  readonly ip: string | null;
  /** Null where it has a MAC or an address. */
  readonly key: string | null;
  readonly name: string | null;
  /** Null = as its subnet says. */
  readonly group: string | null;
}

export interface PlannedSubnet extends FromItems {
  readonly cidr: string;
  readonly group: string;
  readonly comment: string;
}

export interface PlannedService extends FromItems {
  readonly serviceId: string;
  /** Its id in Weir's own catalog, where that differs; null where it does not. */
  readonly ownId: string | null;
  readonly group: string;
}

export interface PlannedSafeSearch extends FromItems {
  readonly group: string;
  readonly engine: SafeSearchEngineData['id'];
  readonly youtubeMode: 'strict' | 'moderate';
}

export interface PlannedSetting extends FromItems {
  readonly change: DnsSettingsChange;
}

/** A key of Weir's configuration. */
export interface PlannedKey extends FromItems {
  /** As in `dns.pools`. */
  readonly key: string;
  readonly value: unknown;
}

export interface ImportPlan {
  readonly format: ImportFormat;
  readonly items: readonly PlanItem[];
  readonly groups: readonly PlannedGroup[];
  readonly sources: readonly PlannedSource[];
  readonly lists: readonly PlannedList[];
  readonly rules: readonly PlannedRule[];
  readonly records: readonly PlannedRecord[];
  readonly zones: readonly PlannedZone[];
  readonly clients: readonly PlannedClient[];
  readonly subnets: readonly PlannedSubnet[];
  readonly services: readonly PlannedService[];
  readonly safeSearch: readonly PlannedSafeSearch[];
  readonly settings: readonly PlannedSetting[];
  readonly keys: readonly PlannedKey[];
}
