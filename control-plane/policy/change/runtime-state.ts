/**
 * Inputs of policy other than its rows: time, neighbour tables (MAC addresses), DHCP leases and configuration. Data
 * only.
 */
import { EVERYONE, type Access } from '../../../shared/policy/access.ts';
import type { WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import type { ExclusionBits } from '../../../shared/query-log.ts';
import { NO_NAME_RULES, type NameRules } from '../../../shared/snapshot/name-rules.ts';
import type { PolicyClient, PolicyRows } from './rows.ts';

/** A name that DHCP has leased with an address. */
export interface LeaseName {
  /** ASCII, lower case, no final dot. */
  readonly fqdn: string;
  /** An address literal. */
  readonly address: string;
}

/** The current override of a group's schedule. */
export interface GroupOverride {
  readonly override: 'BlockAll' | 'AllowAll' | null;
  /** Unix seconds of the next change of the override; 0 = unknown. */
  readonly nextFlipAtSecs: number;
}

/** A client by the name or MAC in a rule, with its current addresses. */
export interface LocatedClient {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** An address, and the exclusions of queries from it. */
export interface ExcludedAddress {
  /** An address literal. */
  readonly address: string;
  readonly exclusion: ExclusionBits;
}

/** Runtime state that is not in any database row. */
export interface LivePolicy {
  /** Unix milliseconds of the evaluation. */
  readonly nowMs: number;
  /** Overrides by group id. */
  readonly overrides: ReadonlyMap<number, GroupOverride>;
  /** Ids of grants that have ended permanently, even if the wall clock is set back. */
  readonly endedGrants: ReadonlySet<number>;
  /** Current addresses of clients that are identified by MAC. */
  readonly clientAddresses: readonly PolicyClient[];
  /** Addresses of clients whose queries are excluded from the log, from statistics, or from both. */
  readonly excludedAddresses: readonly ExcludedAddress[];
  /** Addresses of clients that rules identify by MAC or by name; unknown names may be missing from the result. */
  readonly findClients: (names: readonly string[]) => readonly LocatedClient[];
  /** Local records of the configuration. */
  readonly configRecords: readonly WrittenLocalRecord[];
  /** Names and addresses that DHCP has leased. */
  readonly leases: readonly LeaseName[];
  /** Clients that may send queries. */
  readonly access: Access;
  /** `QuestionFlag` bits. */
  readonly questionFlags: number;
  /** Rules for names from the rows and the configuration, with indexes that are valid for this run of the process. */
  readonly names: NameRules;
}

/**
 * No schedules, neighbours or special names; all clients may send queries, and every name is forwarded to the default
 * upstreams.
 */
export const NOTHING_LIVE: LivePolicy = {
  nowMs: 0,
  overrides: new Map(),
  endedGrants: new Set(),
  clientAddresses: [],
  excludedAddresses: [],
  findClients: () => [],
  configRecords: [],
  leases: [],
  access: EVERYONE,
  questionFlags: 0,
  names: NO_NAME_RULES,
};

/** Computes the runtime state for these rows; called for each snapshot. */
export type FindLivePolicy = (rows: PolicyRows) => LivePolicy;
