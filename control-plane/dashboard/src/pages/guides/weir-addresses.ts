/** The addresses of Weir that a guide shows. */
import type { EnteredAddresses } from '../../api/router-state.ts';

/** An address for each family; null if there is no address that every product accepts. */
export interface WeirAddresses {
  readonly ipv4: string | null;
  /** A unique local address (RFC 4193), because a public prefix may change and some products refuse fe80 addresses. */
  readonly ipv6: string | null;
}

/** The most suitable addresses of each family. */
export function bestAddresses({ ipv4, ipv6 }: EnteredAddresses): WeirAddresses {
  return { ipv4: ipv4[0] ?? null, ipv6: ipv6[0] ?? null };
}
