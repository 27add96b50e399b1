/** Safe search in the form that threads use: the names of each engine, and the modes that each group enforces. */

/** Mode of an engine that a group enforces; two bits per engine in a group's mask, engine 0 lowest. */
export const SafeSearchMode = { off: 0, moderate: 1, strict: 2 } as const;

/** Number of bits of each mode in the mask of a group. */
export const SAFE_SEARCH_MODE_BITS = 2;
/** Maximum number of engines in a mask. */
export const MAX_SAFE_SEARCH_ENGINES = 16;

/** The target of an engine's safe mode: a name, or an IPv4 address if it has no name. */
export interface SafeTarget {
  /** Target name in lower-case wire form; null if the target is an address. */
  readonly cname: Uint8Array | null;
  /** Target address, 4 bytes; null if the target is a name. */
  readonly ipv4: Uint8Array | null;
}

/** An engine for which a group can enforce a mode. */
export interface SafeEngine {
  /** Name of the engine as shown to users. */
  readonly id: string;
  /** Names of the engine, without subdomains; lower-case wire form. */
  readonly names: readonly Uint8Array[];
  readonly moderate: SafeTarget;
  readonly strict: SafeTarget;
}

/** Safe search of a snapshot. */
export interface SafeSearchRules {
  readonly engines: readonly SafeEngine[];
  /** Group id and mask of each group that enforces a mode. */
  readonly groups: readonly { readonly id: number; readonly mask: number }[];
}
