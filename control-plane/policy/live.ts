/** What policy depends on besides its rows: the time, the neighbours, the leases and the configuration. Data only. */
import type { WrittenLocalRecord } from '../../shared/policy/local-record.ts';
import { NO_NAME_RULES, type NameRules } from '../../shared/snapshot/name-rules.ts';
import type { PolicyClient, PolicyRows } from './rows.ts';

/** A name that was leased with an address by DHCP. */
export interface LeaseName {
  /** ASCII, folded, no final dot. */
  readonly fqdn: string;
  /** An address literal. */
  readonly address: string;
}

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
  /** Where clients are that rules speak of by MAC or by name; names that no one has may be left out. */
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
