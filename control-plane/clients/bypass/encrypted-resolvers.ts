/** Public resolvers that devices ask over HTTPS, TLS or QUIC in place of the server of their network, and relays. */

/** Each with all names below. A name that many other things use stands with the host that resolves alone. */
const RESOLVERS: ReadonlySet<string> = new Set([
  ...['dns.google', 'cloudflare-dns.com', 'one.one.one.one', 'cloudflare-gateway.com'],
  ...['dns.quad9.net', 'dns9.quad9.net', 'dns10.quad9.net', 'dns11.quad9.net', 'dns12.quad9.net'],
  ...['doh.opendns.com', 'doh.familyshield.opendns.com', 'dns.umbrella.com', 'doh.sandbox.opendns.com'],
  ...['dns.nextdns.io', 'dns.controld.com', 'freedns.controld.com', 'dns.mullvad.net'],
  ...['dns.adguard.com', 'dns.adguard-dns.com', 'unfiltered.adguard-dns.com', 'family.adguard-dns.com'],
  ...[
    'doh.cleanbrowsing.org',
    'doh.dns.sb',
    'dns.dnsguard.pub',
    'dnsforge.de',
    'dns.digitale-gesellschaft.ch',
  ],
  ...['unfiltered.joindns4.eu', 'protective.joindns4.eu'],
  ...['doh.xfinity.com', 'doh.dns.apple.com', 'dns.alidns.com', 'doh.pub', 'dot.pub', 'doh.360.cn'],
  ...['ordns.he.net', 'doh.libredns.gr', 'doh.applied-privacy.net', 'doh.ffmuc.net', 'dns.switch.ch'],
  ...['mask.icloud.com', 'mask-h2.icloud.com'],
]);

/** The resolver that a name is of; null for all others. */
export function resolverOf(name: string): string | null {
  for (let rest = name.toLowerCase(); rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (RESOLVERS.has(rest)) return rest;
    if (!rest.includes('.')) return null;
  }
  return null;
}
