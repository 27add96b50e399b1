/**
 * Rules for names outside group policy: plain data of a snapshot, usually a few entries, which each thread opens into
 * its own tables (`dns-worker/policy/open-snapshot.ts`).
 */
import type { ForwardZone } from './forward-zone-servers.ts';
import type { SafeSearchRules } from './safe-search-modes.ts';

/** Name rules of a snapshot. */
export interface NameRules {
  readonly forwardZones: readonly ForwardZone[];
  readonly rebinding: RebindingRules;
  readonly safeSearch: SafeSearchRules;
}

/** Which names may be answered with addresses of the local network. */
export interface RebindingRules {
  /** Answers of the pools with such addresses are blocked. */
  readonly isOn: boolean;
  /** Exempt names, with all names below them; folded wire form. */
  readonly exempt: readonly Uint8Array[];
}

/** No rules: every name goes to the pools unchanged and may have any address. */
export const NO_NAME_RULES: NameRules = {
  forwardZones: [],
  rebinding: { isOn: false, exempt: [] },
  safeSearch: { engines: [], groups: [] },
};
