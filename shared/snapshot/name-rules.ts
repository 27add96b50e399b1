/**
 * Rules for names outside group policy: plain data of a snapshot, usually a few entries, from which each thread builds
 * its own tables (`dns-worker/policy/open-snapshot.ts`).
 */
import type { ForwardZone } from './forward-zone-servers.ts';
import type { SafeSearchRules } from './safe-search-modes.ts';

/** Name rules of a snapshot. */
export interface NameRules {
  readonly forwardZones: readonly ForwardZone[];
  readonly rebinding: RebindingRules;
  readonly safeSearch: SafeSearchRules;
  /** Active grants. */
  readonly grants: readonly NameGrant[];
}

/** End of a grant that never ends: later than any other end, and still a small integer in V8. */
export const NO_END_SECS = 0x7fff_ffff;

/** Names that a client, a group or everyone may, or may not, query. */
export interface NameGrant {
  /** Id of the grant's row. */
  readonly id: number;
  /** The name in lower-case wire form; null = every name. */
  readonly name: Uint8Array | null;
  /** Whether the subdomains of `name` are covered. */
  readonly coversSubdomains: boolean;
  /** Group of the grant; null = the grant is for a client or for everyone. */
  readonly groupId: number | null;
  /** Client of the grant; null = the grant is for a group or for everyone. */
  readonly clientId: number | null;
  /** Addresses of the client, 16 bytes each. */
  readonly addresses: Uint8Array;
  readonly isAllowing: boolean;
  /** End of the grant in Unix seconds; NO_END_SECS = no end. */
  readonly endsAtSecs: number;
}

/** Names that may be answered with private addresses. */
export interface RebindingRules {
  /** Whether the pools' answers with private addresses are blocked. */
  readonly isOn: boolean;
  /** Exempt names, which cover their subdomains; lower-case wire form. */
  readonly exempt: readonly Uint8Array[];
}

/** No rules: every name is forwarded to the pools unchanged and may have any address. */
export const NO_NAME_RULES: NameRules = {
  forwardZones: [],
  rebinding: { isOn: false, exempt: [] },
  safeSearch: { engines: [], groups: [] },
  grants: [],
};
