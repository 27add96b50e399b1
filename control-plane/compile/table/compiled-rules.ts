/**
 * What a compile makes, and the rows that give it a meaning: the words in which lists, policy, publisher
 * and generations on disk speak to each other. No behaviour beyond reading identities.
 */
import type { LocalRecordType, WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import { RuleTableLayout as L } from '../../../shared/snapshot/layout.ts';
import { NO_NAME_RULES, type NameRules } from '../../../shared/snapshot/name-rules.ts';
import type { BlockingModeName } from '../../../shared/snapshot/policy-table.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import type { ListStatistics } from '../parse/list-statistics.ts';
import type { AttributeTable } from './attribute-table.ts';

/** One source that went into a rule table; its place in the array is its source index there. */
export interface CompiledSource {
  /** `list_sources.id`. */
  readonly id: number;
  /** Names the bytes and the way they were read; equal keys compile to equal rules. */
  readonly inputKey: string;
  readonly statistics: ListStatistics;
}

/** A rule table with everything that is needed to give it a meaning. */
export interface CompiledRules {
  readonly rules: SharedArrayBuffer;
  /** Patterns and conditional rules, see `shared/snapshot/special-rules.ts`. */
  readonly special: SharedArrayBuffer;
  readonly attributes: AttributeTable;
  readonly sources: readonly CompiledSource[];
  /** Unix milliseconds; 0 for the empty table. */
  readonly compiledAtMs: number;
  readonly compileMs: number;
}

/** A group as policy sees it. */
export interface PolicyGroup {
  readonly id: number;
  /** A disabled group is treated as Default. */
  readonly enabled: boolean;
}

/** A source as policy sees it. */
export interface PolicySource {
  readonly id: number;
  readonly name: string;
  readonly kind: 'block' | 'allow';
  readonly enabled: boolean;
  /** Groups it serves; empty = every group. */
  readonly groupIds: readonly number[];
}

/** An enabled rule for one domain. */
export interface PolicyManagedDomain {
  readonly id: number;
  readonly name: string;
  /** ASCII, folded, no final dot, no `*.`. */
  readonly domain: string;
  /** Whether it covers the names below as well. */
  readonly suffix: boolean;
  readonly action: 'allow' | 'deny';
  /** Null = every group. */
  readonly groupId: number | null;
}

/** An enabled rule for all names that a regular expression matches. */
export interface PolicyRegexFilter {
  readonly id: number;
  readonly name: string;
  readonly pattern: string;
  readonly action: 'allow' | 'deny';
  /** Null = every group. */
  readonly groupId: number | null;
}

/** A service that is blocked for one group. */
export interface PolicyBlockedService {
  readonly serviceId: string;
  readonly serviceName: string;
  readonly groupId: number;
  /** Names that are blocked with all names below; ASCII, folded, no final dot. */
  readonly domains: readonly string[];
  /** Names that are blocked by themselves. */
  readonly exact: readonly string[];
}

/** A client that was given a group by its address. */
export interface PolicyClient {
  /** An address literal. */
  readonly address: string;
  readonly groupId: number;
}

/** A client that was given a group by its MAC. */
export interface PolicyMacClient {
  /** Six hexadecimal pairs with colons, lower case. */
  readonly mac: string;
  readonly groupId: number;
}

/** A network whose clients are in a group. */
export interface PolicySubnet {
  /** In canonical form. */
  readonly cidr: string;
  readonly groupId: number;
}

/** A part of the week in which a group's queries are all blocked or all allowed. */
export interface PolicySlot {
  /** Weekdays, one bit each. */
  readonly days: number;
  /** Minutes of the day; a slot whose end lies before its start goes over midnight. */
  readonly start: number;
  readonly end: number;
  readonly action: 'block_all' | 'allow_all';
}

/** The schedule of a group; a group has one at most. */
export interface PolicySchedule {
  readonly groupId: number;
  /** Name of the profile. Rows that an older version kept on disk have none. */
  readonly profile?: string;
  /** IANA name. */
  readonly timezone: string;
  readonly slots: readonly PolicySlot[];
}

/** An engine whose safe search is enforced for a group. */
export interface PolicySafeSearch {
  readonly groupId: number;
  readonly engine: string;
  readonly youtubeMode: 'strict' | 'moderate';
}

/** A record that this server answers with itself. */
export interface PolicyLocalRecord {
  readonly id: number;
  /** ASCII, folded, no final dot; `*.` in front for all names below. */
  readonly fqdn: string;
  /** The zone that it belongs to: names between the two are there, even without records. '' = none. */
  readonly domain: string;
  readonly type: LocalRecordType;
  /** In canonical form. */
  readonly value: string;
  readonly ttlSecs: number;
}

/** A name that was leased with an address by DHCP. */
export interface LeaseName {
  /** ASCII, folded, no final dot. */
  readonly fqdn: string;
  /** An address literal. */
  readonly address: string;
}

/** A zone that servers of its own are asked for. */
export interface PolicyForwardZone {
  /** Canonical, see `shared/policy/zone-text.ts`. */
  readonly zone: string;
  /** Upstream URLs. */
  readonly servers: readonly string[];
}

/** What was set through the API about names of the local network; null = the configuration decides. */
export interface WrittenDnsSettings {
  readonly neverForwardNonFqdn: boolean | null;
  readonly neverForwardReverseLookups: boolean | null;
  /** Empty = none. */
  readonly localDomain: string | null;
  readonly localDnsServer: string | null;
}

/** Nobody has set anything. */
export const NO_DNS_SETTINGS: WrittenDnsSettings = {
  neverForwardNonFqdn: null,
  neverForwardReverseLookups: null,
  localDomain: null,
  localDnsServer: null,
};

/** What was said through the API about blocking as a whole. */
export interface BlockingSwitch {
  readonly enabled: boolean;
  /** ISO 8601; from then on holds what held before. Null = until changed. */
  readonly until: string | null;
  /** What held before the timer; null (and absent in rows that an older version kept) = the configuration. */
  readonly before?: boolean | null;
}

/** The rows that policy is made of. */
export interface PolicyRows {
  readonly groups: readonly PolicyGroup[];
  readonly sources: readonly PolicySource[];
  readonly managedDomains: readonly PolicyManagedDomain[];
  readonly regexFilters: readonly PolicyRegexFilter[];
  readonly blockedServices: readonly PolicyBlockedService[];
  readonly clients: readonly PolicyClient[];
  readonly macClients: readonly PolicyMacClient[];
  readonly subnets: readonly PolicySubnet[];
  readonly schedules: readonly PolicySchedule[];
  /** Only what is enabled. */
  readonly safeSearch: readonly PolicySafeSearch[];
  readonly localRecords: readonly PolicyLocalRecord[];
  readonly forwardZones: readonly PolicyForwardZone[];
  readonly dnsSettings: WrittenDnsSettings;
  /** Null = the configuration decides. */
  readonly blockingSwitch: BlockingSwitch | null;
}

/** A database in which nobody has said anything; what older generations do not know of is as here. */
export const NO_POLICY_ROWS: PolicyRows = {
  groups: [],
  sources: [],
  managedDomains: [],
  regexFilters: [],
  blockedServices: [],
  clients: [],
  macClients: [],
  subnets: [],
  schedules: [],
  safeSearch: [],
  localRecords: [],
  forwardZones: [],
  dnsSettings: NO_DNS_SETTINGS,
  blockingSwitch: null,
};

/** What a schedule says of a group now. */
export interface GroupOverride {
  readonly override: 'BlockAll' | 'AllowAll' | null;
  /** Unix seconds at which that changes; 0 = not in sight. */
  readonly nextFlipAtSecs: number;
}

/** A client as a rule speaks of it, and the address literals that it is seen at. */
export interface LocatedClient {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** What is true now and stands in no database. */
export interface LivePolicy {
  /** Unix milliseconds of that now. */
  readonly nowMs: number;
  /** By group id. */
  readonly overrides: ReadonlyMap<number, GroupOverride>;
  /** Addresses at which clients that are known by MAC are seen. */
  readonly clientAddresses: readonly PolicyClient[];
  /** Where clients are that rules speak of by MAC or by name; names that nobody has may be left out. */
  readonly findClients: (names: readonly string[]) => readonly LocatedClient[];
  /** Local records of the configuration. */
  readonly configRecords: readonly WrittenLocalRecord[];
  /** Names and addresses that DHCP has leased. */
  readonly leases: readonly LeaseName[];
  /** `QuestionFlag` bits. */
  readonly questionFlags: number;
  /** The rows and the configuration together, numbered for this run. */
  readonly names: NameRules;
}

/** No schedule runs, no neighbour is seen, no question is special, and every name is for the pools. */
export const NOTHING_LIVE: LivePolicy = {
  nowMs: 0,
  overrides: new Map(),
  clientAddresses: [],
  findClients: () => [],
  configRecords: [],
  leases: [],
  questionFlags: 0,
  names: NO_NAME_RULES,
};

/** Says what is live with these rows; asked for each snapshot. */
export type FindLivePolicy = (rows: PolicyRows) => LivePolicy;

/** How blocked queries are answered; the section `blocking` of the configuration. */
export interface BlockingSettings {
  readonly enabled: boolean;
  readonly mode: BlockingModeName;
  readonly ttlSecs: number;
  /** Address literals of the mode `custom_ip`; empty = NODATA for that family. */
  readonly customIpv4: string;
  readonly customIpv6: string;
}

/** A snapshot and what it was made of. */
export interface PublishedState {
  readonly snapshot: SnapshotBuffers;
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
}

/**
 * Identity of a rule table: the random word of its build, checksum and counts, as 56 hexadecimal digits.
 * Every header word that a reader relies on is in it.
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

/** The seeds that a table's names are hashed with; later tables keep them, as cached answers lie under them. */
export function seedsOf(rules: SharedArrayBuffer): { readonly low: number; readonly high: number } {
  const header = new Int32Array(rules, 0, L.HEADER_WORDS);
  return { low: header[L.SEED_LOW_WORD]!, high: header[L.SEED_HIGH_WORD]! };
}

/** Clients that the rules of a table speak of by MAC or by name. */
export function clientNamesOf({ sources }: Pick<CompiledRules, 'sources'>): string[] {
  return [...new Set(sources.flatMap(({ statistics }) => statistics.clientNames ?? []))];
}
