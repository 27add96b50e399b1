/** Exceptions from rebinding protection (`dns.rebinding_allowlist`) that are offered for a blocked name. */

/** Domains that have private addresses on purpose. The exception covers the whole domain. */
const KNOWN_DOMAINS: readonly string[] = ['ts.net'];

/** Domain of the exception for a name: a known domain, or the name itself. */
export function exemptDomain(name: string): string {
  const folded = name.toLowerCase();
  return KNOWN_DOMAINS.find((domain) => folded === domain || folded.endsWith(`.${domain}`)) ?? folded;
}

/** Adds a domain to the list; null if the list already covers it. */
export function withDomain(list: readonly string[], domain: string): readonly string[] | null {
  const isCovered = list.some((one) => {
    const other = one.toLowerCase();
    return domain === other || domain.endsWith(`.${other}`);
  });
  return isCovered ? null : [...list, domain];
}
