/** Options of dnsmasq that are not imported, and why. Plain data. */

/** Options about the program itself, and about behaviour that Weir always has. */
const SKIPPED: readonly (readonly [options: RegExp, reason: string])[] = [
  [
    /^(?:port|interface|except-interface|listen-address|bind-interfaces|bind-dynamic|user|group|pid-file|log-.*|no-daemon|keep-in-foreground|enable-dbus|enable-ubus|conntrack|dumpfile|dumpmask|no-ident|no-poll|clear-on-reload|script-arp|leasefile-ro|read-ethers|bridge-interface|shared-network|tag-if)$/,
    'it is about how that program runs',
  ],
  [
    /^(?:dns-forward-max|edns-packet-max|query-port|min-port|max-port|port-limit|max-tcp-connections|fast-dns-retry|dns-loop-detect|dnssec-limits|dnssec-no-timecheck|dnssec-timestamp|dnssec-debug|dnssec-check-unsigned|proxy-dnssec)$/,
    'Weir has its own way to ask servers',
  ],
  [/^(?:localise-queries|no-round-robin)$/, 'Weir gives all addresses of a name, in turns'],
  [/^(?:all-servers|strict-order)$/, 'it is the strategy of the pool'],
  [/^no-resolv$/, 'the servers of resolv.conf are not asked there, either'],
  [/^no-hosts$/, 'the hosts file of that machine is not read there, either'],
  [/^expand-hosts$/, 'names of hosts files also have the domain here'],
  [/^(?:filterwin2k|strip-mac)$/, 'Weir sends no such questions on'],
  [/^(?:ipset|nftset|connmark-allowlist.*)$/, 'it is about the firewall of that machine'],
];

const NOT_MAPPED: readonly (readonly [options: RegExp, reason: string])[] = [
  [
    /^(?:dhcp-.*|no-dhcp.*|tftp-.*|enable-tftp|enable-ra|ra-param|pxe-.*|bootp-dynamic|no-ping|quiet-.*|domain-suffix)$/,
    'Weir does not give out addresses',
  ],
  [/^(?:add-mac|add-cpe-id|add-subnet|umbrella)$/, 'Weir adds nothing about clients to questions'],
  [/^trust-anchor$/, 'set dns.dnssec_trust_anchors to a file with them'],
  [/^no-negcache$/, 'set cache.negative_max_ttl_secs to 0'],
  [/^rebind-localhost-ok$/, 'Weir refuses 127.0.0.0/8 too: see dns.rebinding_allowlist'],
  [/^auth-.*$/, 'Weir is not an authoritative server'],
  [/^(?:conf-dir|conf-file|servers-file|hostsdir)$/, 'the upload has no such file: add it to the archive'],
  [/^(?:caa-record|naptr-record|dns-rr)$/, 'Weir has no local records of this type'],
  [/^(?:localmx|selfmx|mx-target)$/, 'Weir makes no mail records by itself: add them as local records'],
  [/^(?:synth-domain|interface-name|dynamic-host)$/, 'Weir has no records that are made from addresses'],
  [/^alias$/, 'Weir does not change addresses in answers'],
  [/^conf-script$/, 'Weir runs no scripts: put its output into the file'],
];

/** Reason why an option is not imported, and whether that matters; null for an unknown option. */
export function restOf(
  option: string,
): { readonly result: 'skipped' | 'not_mapped'; readonly reason: string } | null {
  for (const [options, reason] of SKIPPED) if (options.test(option)) return { result: 'skipped', reason };
  for (const [options, reason] of NOT_MAPPED)
    if (options.test(option)) return { result: 'not_mapped', reason };
  return null;
}

/** Options that are imported; together with the others they identify a file of dnsmasq. */
const MAKING =
  /^(?:address|server|local|rev-server|host-record|cname|txt-record|ptr-record|mx-host|srv-host|addn-hosts|domain|domain-needed|bogus-priv|stop-dns-rebind|rebind-domain-ok|dnssec|min-cache-ttl|max-cache-ttl|max-ttl|neg-ttl|local-ttl|cache-size|use-stale-cache|bogus-nxdomain|ignore-address|local-service|filter-A|filter-AAAA|filter-rr|resolv-file|strip-subnet)$/i;

/** Whether dnsmasq has an option of this name. */
export function isOption(option: string): boolean {
  return MAKING.test(option) || restOf(option) !== null;
}
