/** The addresses of Weir that a guide shows. */
import type { EnteredAddresses } from '../../api/router-state.ts';

/** One of each family; null if there is none that every product takes. */
export interface WeirAddresses {
  readonly ipv4: string | null;
  /** A unique local address (RFC 4193): the prefix of a public one may change, and fe80 is refused by some products. */
  readonly ipv6: string | null;
}

/** The best of the addresses that can be entered. */
export function bestAddresses({ ipv4, ipv6 }: EnteredAddresses): WeirAddresses {
  return { ipv4: ipv4[0] ?? null, ipv6: ipv6[0] ?? null };
}
