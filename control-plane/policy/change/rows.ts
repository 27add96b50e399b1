/** The rows of policy, as stored in the database and in compiled generations of policy on disk. Data only. */
import type { LocalRecordType } from '../../../shared/policy/local-record.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import type { ExclusionBits } from '../../../shared/query-log.ts';

/** A group in the form of policy. */
export interface PolicyGroup {
  readonly id: number;
  /** Clients of a disabled group are treated like those of group Default. */
  readonly enabled: boolean;
  /** Whether clients of the group get no IPv6 addresses; absent = clients do get them. */
  readonly noIpv6?: boolean;
}

/** A source in the form of policy. */
export interface PolicySource {
  readonly id: number;
  readonly name: string;
  readonly kind: SourceKind;
  readonly enabled: boolean;
  /** Groups for which the source is active; empty = all groups. */
  readonly groupIds: readonly number[];
}

/** An enabled rule for one domain. */
export interface PolicyManagedDomain {
  readonly id: number;
  readonly name: string;
  /** ASCII, lower case, no final dot, no `*.`. */
  readonly domain: string;
  /** Whether the rule also covers subdomains. */
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

/** The slots of a schedule profile. */
export interface PolicyTimes {
  /** IANA name. */
  readonly timezone: string;
  readonly slots: readonly PolicySlot[];
  /** Ranges of days, including the first and the last, on which some slots do not apply; absent = no ranges. */
  readonly daysOff?: readonly { readonly from: string; readonly to: string }[];
}

/** A service that is blocked for one group. */
export interface PolicyBlockedService {
  readonly serviceId: string;
  readonly serviceName: string;
  readonly groupId: number;
  /** Names that are blocked with their subdomains; ASCII, lower case, no final dot. */
  readonly domains: readonly string[];
  /** Names that are blocked without their subdomains. */
  readonly exact: readonly string[];
  /** Times at which the service is blocked; null or absent = always. */
  readonly times?: PolicyTimes | null;
}

/** A client whose group was assigned by its address. */
export interface PolicyClient {
  /** An address literal. */
  readonly address: string;
  readonly groupId: number;
}

/** A client whose group was assigned by its MAC. */
export interface PolicyMacClient {
  /** Six hexadecimal pairs with colons, lower case. */
  readonly mac: string;
  readonly groupId: number;
}

/** A client that is identified by its key, possibly among other identifiers. */
export interface PolicyKeyedClient {
  readonly clientId: number;
  /** Key in lower case. */
  readonly key: string;
  /** Null = the group is determined by the client's address. */
  readonly groupId: number | null;
  /** Name that a user has set. */
  readonly name: string | null;
  /** Six hexadecimal pairs with colons, lower case. */
  readonly mac: string | null;
  /** Exclusions for its queries; absent = none. */
  readonly exclusion?: ExclusionBits;
}

/** A client whose queries are excluded from the log, from statistics, or from both. */
export interface PolicyExcludedClient {
  /** Six hexadecimal pairs with colons, lower case; null = the client is identified by its address. */
  readonly mac: string | null;
  /** An address literal; null = the client is identified by its MAC. */
  readonly address: string | null;
  readonly exclusion: ExclusionBits;
}

/** A network whose clients belong to a group. */
export interface PolicySubnet {
  /** Network in canonical form. */
  readonly cidr: string;
  readonly groupId: number;
}

/** A part of the week in which a group's queries are all blocked or all allowed. */
export interface PolicySlot {
  /** Weekdays, one bit for each. */
  readonly days: number;
  /** Minutes of the day; a slot whose end is before its start spans midnight. */
  readonly start: number;
  readonly end: number;
  readonly action: 'block_all' | 'allow_all';
  /** Whether the slot does not apply on days off; absent = it applies on all days. */
  readonly skipsDaysOff?: boolean;
}

/** The schedule of a group; a group has at most one. */
export interface PolicySchedule extends PolicyTimes {
  readonly groupId: number;
  /** Name of the profile. */
  readonly profile: string;
}

/** An engine whose safe search is enforced for a group. */
export interface PolicySafeSearch {
  readonly groupId: number;
  readonly engine: string;
  readonly youtubeMode: 'strict' | 'moderate';
}

/** A record that this server answers itself. */
export interface PolicyLocalRecord {
  readonly id: number;
  /** ASCII, lower case, no final dot; `*.` at the start for all subdomains. */
  readonly fqdn: string;
  /** Zone of the name, '' = none. Names between the zone and this name exist, even without records. */
  readonly domain: string;
  readonly type: LocalRecordType;
  /** Value in canonical form. */
  readonly value: string;
  readonly ttlSecs: number;
}

/**
 * A temporary rule for a client, a group or all clients. A grant for a device is listed once for each MAC or address of
 * the device.
 */
export interface PolicyGrant {
  readonly id: number;
  /** ASCII, lower case, no final dot. Null = every name. */
  readonly domain: string | null;
  /** Whether subdomains are covered. */
  readonly subdomains: boolean;
  readonly action: 'allow' | 'block';
  /** At least one of `groupId` and `clientId` is null; both are null in a grant for all clients. */
  readonly groupId: number | null;
  readonly clientId: number | null;
  /** The client's MAC or, without a MAC, its address. Both are null if the grant is not for a client. */
  readonly mac: string | null;
  readonly address: string | null;
  /** Unix milliseconds of the grant's end, which may have passed; null = no end. */
  readonly untilMs: number | null;
  readonly createdMs: number;
  /** The service whose names the grant covers instead of `domain`; absent = no service. */
  readonly serviceId?: string;
  /**
   * Name and domains of the service. Absent if the grant is not for a service. Also absent if no catalog of this node
   * has the service; the grant then covers no name.
   */
  readonly service?: GrantedService;
}

/** The data of a service that a grant covers. */
export type GrantedService = Pick<PolicyBlockedService, 'serviceName' | 'domains' | 'exact'>;

/** A zone that is forwarded to its own servers. */
export interface PolicyForwardZone {
  /** In canonical form, see `shared/policy/zone-text.ts`. */
  readonly zone: string;
  /** Upstream URLs. */
  readonly servers: readonly string[];
}

/** The blocking state as set through the API. */
export interface BlockingSwitch {
  readonly enabled: boolean;
  /** Time at which the previous state is restored, ISO 8601; null = never. */
  readonly until: string | null;
  /** The state before the timer; null or absent = the state of the configuration. */
  readonly before?: boolean | null;
  /** Whether the state was set on this node only, see `filtering/schedules/local-switch.ts`. */
  readonly isLocal?: true;
}

/** The rows of policy. */
export interface PolicyRows {
  readonly groups: readonly PolicyGroup[];
  readonly sources: readonly PolicySource[];
  readonly managedDomains: readonly PolicyManagedDomain[];
  readonly regexFilters: readonly PolicyRegexFilter[];
  readonly blockedServices: readonly PolicyBlockedService[];
  readonly clients: readonly PolicyClient[];
  readonly macClients: readonly PolicyMacClient[];
  readonly keyedClients: readonly PolicyKeyedClient[];
  /** Clients that are identified by a MAC or an address. */
  readonly excludedClients: readonly PolicyExcludedClient[];
  readonly subnets: readonly PolicySubnet[];
  readonly schedules: readonly PolicySchedule[];
  /** Enabled rows only. */
  readonly safeSearch: readonly PolicySafeSearch[];
  readonly localRecords: readonly PolicyLocalRecord[];
  readonly forwardZones: readonly PolicyForwardZone[];
  readonly grants: readonly PolicyGrant[];
  /** Null = the configuration determines whether blocking is enabled. */
  readonly blockingSwitch: BlockingSwitch | null;
  /**
   * Unix milliseconds until which clients that had access before an upgrade keep it; null = they have no access any
   * more.
   */
  readonly accessGraceEndMs: number | null;
}

/** The rows of an empty database. */
export const NO_POLICY_ROWS: PolicyRows = {
  groups: [],
  sources: [],
  managedDomains: [],
  regexFilters: [],
  blockedServices: [],
  clients: [],
  macClients: [],
  keyedClients: [],
  excludedClients: [],
  subnets: [],
  schedules: [],
  safeSearch: [],
  localRecords: [],
  forwardZones: [],
  grants: [],
  blockingSwitch: null,
  accessGraceEndMs: null,
};
