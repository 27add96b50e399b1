/** Addresses of Weir that routers and devices can use, as far as the page knows them. */

/** One of each family; null if it is not known. */
export interface WeirAddresses {
  readonly ipv4: string | null;
  /** A unique local address (RFC 4193): the prefix of a public one may change, and fe80 is refused by some products. */
  readonly ipv6: string | null;
}

/** What the address bar reveals: its host if that is an address, except of this machine alone. */
export function addressesIn(hostname: string): WeirAddresses {
  const isV4 = /^\d+(?:\.\d+){3}$/.test(hostname) && !hostname.startsWith('127.');
  const v6 = /^\[(f[cd][\da-f:.]+)\]$/i.exec(hostname)?.[1];
  return { ipv4: isV4 ? hostname : null, ipv6: v6 ?? null };
}
