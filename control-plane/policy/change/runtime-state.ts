/** Inputs of policy other than its rows: time, neighbours, leases and configuration. Data only. */
import { EVERYONE, type Access } from '../../../shared/policy/access.ts';
import type { WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import type { ExclusionBits } from '../../../shared/query-log.ts';
import { NO_NAME_RULES, type NameRules } from '../../../shared/snapshot/name-rules.ts';
import type { PolicyClient, PolicyRows } from './rows.ts';

/** A name that was leased with an address by DHCP. */
export interface LeaseName {
  /** ASCII, folded, no final dot. */
  readonly fqdn: string;
  /** An address literal. */
  readonly address: string;
}

/** The current override of a group's schedule. */
export interface GroupOverride {
  readonly override: 'BlockAll' | 'AllowAll' | null;
  /** Unix seconds of its next change; 0 = none known. */
  readonly nextFlipAtSecs: number;
}

/** A client as a rule names it, and its current addresses. */
export interface LocatedClient {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** An address, and what the queries from it are left out of. */
export interface ExcludedAddress {
  /** An address literal. */
  readonly address: string;
  readonly exclusion: ExclusionBits;
}

/** Live state that no database row has. */
export interface LivePolicy {
  /** Unix milliseconds of that now. */
  readonly nowMs: number;
  /** Overrides by group id. */
  readonly overrides: ReadonlyMap<number, GroupOverride>;
  /** Ids of grants that have ended for good, even if the wall clock is set back. */
  readonly endedGrants: ReadonlySet<number>;
  /** Addresses at which clients that are known by MAC are seen. */
  readonly clientAddresses: readonly PolicyClient[];
  /** Addresses of clients whose queries are left out of the log, of statistics, or of both. */
  readonly excludedAddresses: readonly ExcludedAddress[];
  /** Addresses of clients that rules name by MAC or by name; unknown names may be omitted. */
  readonly findClients: (names: readonly string[]) => readonly LocatedClient[];
  /** Local records of the configuration. */
  readonly configRecords: readonly WrittenLocalRecord[];
  /** Names and addresses that DHCP has leased. */
  readonly leases: readonly LeaseName[];
  /** Clients that may send queries. */
  readonly access: Access;
  /** `QuestionFlag` bits. */
  readonly questionFlags: number;
  /** The rows and the configuration together, numbered for this run. */
  readonly names: NameRules;
}

/** No schedule, no neighbour, no special question; everyone may ask, and every name goes to the pools. */
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

/** Computes the live policy for these rows; called for each snapshot. */
export type FindLivePolicy = (rows: PolicyRows) => LivePolicy;
