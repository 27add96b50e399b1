/** Options of dnsmasq that are not imported, and why. Plain data. */

/** Options about the program itself, and about behaviour that Weir always has. */
const SKIPPED: readonly (readonly [options: RegExp, reason: string])[] = [
  [
    /^(?:port|interface|except-interface|listen-address|bind-interfaces|bind-dynamic|user|group|pid-file|log-.*|no-daemon|keep-in-foreground|enable-dbus|enable-ubus|conntrack|dumpfile|dumpmask|no-ident|no-poll|clear-on-reload|script-arp|leasefile-ro|read-ethers|bridge-interface|shared-network|tag-if)$/,
    'it only affects how the other program runs',
  ],
  [
    /^(?:dns-forward-max|edns-packet-max|query-port|min-port|max-port|port-limit|max-tcp-connections|fast-dns-retry|dns-loop-detect|dnssec-limits|dnssec-no-timecheck|dnssec-timestamp|dnssec-debug|dnssec-check-unsigned|proxy-dnssec)$/,
    'Weir queries servers with its own settings',
  ],
  [/^(?:localise-queries|no-round-robin)$/, 'Weir returns all addresses of a name, in rotating order'],
  [/^(?:all-servers|strict-order)$/, 'this is the strategy of the pool'],
  [/^no-resolv$/, 'dnsmasq does not use the servers of resolv.conf either'],
  [/^no-hosts$/, 'dnsmasq does not read the hosts file of that machine either'],
  [/^expand-hosts$/, 'Weir also adds the domain to names of hosts files'],
  [/^(?:filterwin2k|strip-mac)$/, 'Weir does not forward such queries'],
  [/^(?:ipset|nftset|connmark-allowlist.*)$/, 'it configures the firewall of that machine'],
];

const NOT_MAPPED: readonly (readonly [options: RegExp, reason: string])[] = [
  [
    /^(?:dhcp-.*|no-dhcp.*|tftp-.*|enable-tftp|enable-ra|ra-param|pxe-.*|bootp-dynamic|no-ping|quiet-.*|domain-suffix)$/,
    'Weir is not a DHCP server',
  ],
  [/^(?:add-mac|add-cpe-id|add-subnet|umbrella)$/, 'Weir adds no information about clients to queries'],
  [/^trust-anchor$/, 'set dns.dnssec_trust_anchors to a file with them'],
  [/^no-negcache$/, 'set cache.negative_max_ttl_secs to 0'],
  [/^rebind-localhost-ok$/, 'Weir also rejects 127.0.0.0/8: see dns.rebinding_allowlist'],
  [/^auth-.*$/, 'Weir is not an authoritative server'],
  [/^(?:conf-dir|conf-file|servers-file|hostsdir)$/, 'it is not in the upload: add it to the archive'],
  [/^(?:caa-record|naptr-record|dns-rr)$/, 'Weir has no local records of this type'],
  [/^(?:localmx|selfmx|mx-target)$/, 'Weir does not generate MX records: add them as local records'],
  [/^(?:synth-domain|interface-name|dynamic-host)$/, 'Weir does not generate records from addresses'],
  [/^alias$/, 'Weir does not change addresses in answers'],
  [/^conf-script$/, 'Weir does not run scripts: put the output of the script into the file'],
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
