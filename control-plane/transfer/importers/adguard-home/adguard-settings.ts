/** What an AdGuard Home is set to, whichever schema its file has. Plain data. */
import type { ForeignTree } from '../files/foreign-tree.ts';

/** How a client is filtered: the settings of all, or its own. */
export interface AdguardPolicy {
  readonly isFiltered: boolean;
  /** Ids of engines. */
  readonly safeSearch: readonly string[];
  /** Ids of blocked services. */
  readonly services: readonly string[];
}

export interface AdguardClient {
  readonly name: string;
  /** Addresses, networks, MACs and ClientIDs. */
  readonly ids: readonly string[];
  readonly policy: AdguardPolicy;
  /** What it has that Weir has no place for. */
  readonly others: readonly string[];
}

export interface AdguardFilter {
  readonly kind: 'block' | 'allow';
  readonly url: string;
  readonly name: string;
  readonly enabled: boolean;
  /** Its copy in `data/filters/`; null where the upload has none. */
  readonly copy: Uint8Array | null;
  readonly id: string;
}

export interface AdguardRewrite {
  readonly domain: string;
  readonly answer: string;
  readonly enabled: boolean;
}

/** A lease of its DHCP server. */
export interface AdguardLease {
  readonly mac: string;
  readonly address: string;
  readonly name: string;
}

export interface AdguardSettings {
  readonly schema: number;
  readonly filters: readonly AdguardFilter[];
  /** Lines in Adblock's syntax, or in that of hosts files. */
  readonly rules: readonly string[];
  readonly rewrites: readonly AdguardRewrite[];
  /** Of clients without settings of their own. */
  readonly everyone: AdguardPolicy;
  readonly clients: readonly AdguardClient[];
  readonly leases: readonly AdguardLease[];
  /** The sections `dns`, and `filtering`, which was a part of it before schema 26. */
  readonly dns: ForeignTree;
  readonly filtering: ForeignTree;
  /** The whole file, for single keys. */
  readonly file: ForeignTree;
}
