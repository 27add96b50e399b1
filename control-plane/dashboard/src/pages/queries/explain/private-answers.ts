/** Exceptions from rebinding protection (`dns.rebinding_allowlist`), as they are offered for a blocked name. */

/** Domains whose names lead to private addresses on purpose: all of their names are exempt with one press. */
const KNOWN_DOMAINS: readonly string[] = ['ts.net'];

/** The domain that an exception for this name is for: a known one, else the name itself. */
export function exemptDomain(name: string): string {
  const folded = name.toLowerCase();
  return KNOWN_DOMAINS.find((domain) => folded === domain || folded.endsWith(`.${domain}`)) ?? folded;
}

/** The list with a domain more; null if it covers the domain. */
export function withDomain(list: readonly string[], domain: string): readonly string[] | null {
  const isCovered = list.some((one) => {
    const other = one.toLowerCase();
    return domain === other || domain.endsWith(`.${other}`);
  });
  return isCovered ? null : [...list, domain];
}
