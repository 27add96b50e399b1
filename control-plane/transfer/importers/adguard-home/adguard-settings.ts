/** Settings of AdGuard Home, independent of the schema of its file. Plain data. */
import type { ForeignTree } from '../files/foreign-tree.ts';

/** Filter settings of a client: the global settings, or its own. */
export interface AdguardPolicy {
  readonly isFiltered: boolean;
  /** Ids of engines. */
  readonly safeSearch: readonly string[];
  /** Ids of blocked services. */
  readonly services: readonly string[];
  /** Times at which the services are allowed; null = never. */
  readonly schedule: AdguardSchedule | null;
}

/** Times of a week, at most one range per day. */
export interface AdguardSchedule {
  readonly timeZone: string;
  /** For Monday to Sunday, minutes of the day from `start` to before `end`; null = not on that day. */
  readonly days: readonly ({ readonly start: number; readonly end: number } | null)[];
}

export interface AdguardClient {
  readonly name: string;
  /** Addresses, networks, MACs and ClientIDs. */
  readonly ids: readonly string[];
  readonly policy: AdguardPolicy;
  /** Tags such as `device_tv`, which rules refer to by `$ctag`. */
  readonly tags: readonly string[];
  /** Whether the client is excluded from the query log and the statistics. */
  readonly isUnlogged: boolean;
  readonly isUncounted: boolean;
  /** Settings without an equivalent in Weir. */
  readonly others: readonly string[];
}

export interface AdguardFilter {
  readonly kind: 'block' | 'allow';
  readonly url: string;
  readonly name: string;
  readonly enabled: boolean;
  /** Copy of the list in `data/filters/`; null if the upload has none. */
  readonly copy: Uint8Array | null;
  readonly id: string;
}

export interface AdguardRewrite {
  readonly domain: string;
  readonly answer: string;
  readonly enabled: boolean;
}

/** A lease of AdGuard Home's DHCP server. */
export interface AdguardLease {
  readonly mac: string;
  readonly address: string;
  readonly name: string;
  /** A static lease does not expire. */
  readonly isStatic: boolean;
}

export interface AdguardSettings {
  readonly schema: number;
  readonly filters: readonly AdguardFilter[];
  /** Lines in Adblock syntax or hosts-file syntax. */
  readonly rules: readonly string[];
  readonly rewrites: readonly AdguardRewrite[];
  /** Policy of clients without individual settings. */
  readonly everyone: AdguardPolicy;
  readonly clients: readonly AdguardClient[];
  readonly leases: readonly AdguardLease[];
  /** Lines of `upstream_dns_file`; null if there is none, or the upload lacks it. */
  readonly upstreamFile: readonly string[] | null;
  /** The section `dns`, and `filtering`, which was part of it before schema 26. */
  readonly dns: ForeignTree;
  readonly filtering: ForeignTree;
  /** The whole file, for single keys. */
  readonly file: ForeignTree;
}
