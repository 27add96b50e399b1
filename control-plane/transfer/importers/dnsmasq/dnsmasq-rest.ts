/** Options of dnsmasq that are not imported, and why. Plain data. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';

/** Options about the program itself, and about behaviour that Weir always has. */
const SKIPPED: readonly (readonly [options: RegExp, reason: ImportReason])[] = [
  [
    /^(?:port|interface|except-interface|listen-address|bind-interfaces|bind-dynamic|user|group|pid-file|log-.*|no-daemon|keep-in-foreground|enable-dbus|enable-ubus|conntrack|dumpfile|dumpmask|no-ident|no-poll|clear-on-reload|script-arp|leasefile-ro|read-ethers|bridge-interface|shared-network|tag-if)$/,
    importReason('other_program_only'),
  ],
  [
    /^(?:dns-forward-max|edns-packet-max|query-port|min-port|max-port|port-limit|max-tcp-connections|fast-dns-retry|dns-loop-detect|dnssec-limits|dnssec-no-timecheck|dnssec-timestamp|dnssec-debug|dnssec-check-unsigned|proxy-dnssec)$/,
    importReason('dnsmasq_own_queries'),
  ],
  [/^(?:localise-queries|no-round-robin)$/, importReason('dnsmasq_rotating')],
  [/^(?:all-servers|strict-order)$/, importReason('dnsmasq_strategy')],
  [/^no-resolv$/, importReason('dnsmasq_no_resolv')],
  [/^no-hosts$/, importReason('dnsmasq_no_hosts')],
  [/^expand-hosts$/, importReason('dnsmasq_expand_hosts')],
  [/^(?:filterwin2k|strip-mac)$/, importReason('dnsmasq_not_forwarded')],
  [/^(?:ipset|nftset|connmark-allowlist.*)$/, importReason('dnsmasq_firewall')],
];

const NOT_MAPPED: readonly (readonly [options: RegExp, reason: ImportReason])[] = [
  [
    /^(?:dhcp-.*|no-dhcp.*|tftp-.*|enable-tftp|enable-ra|ra-param|pxe-.*|bootp-dynamic|no-ping|quiet-.*|domain-suffix)$/,
    importReason('no_dhcp'),
  ],
  [/^(?:add-mac|add-cpe-id|add-subnet|umbrella)$/, importReason('dnsmasq_client_information')],
  [/^trust-anchor$/, importReason('trust_anchors')],
  [/^no-negcache$/, importReason('dnsmasq_negative_ttl')],
  [/^rebind-localhost-ok$/, importReason('dnsmasq_loopback')],
  [/^auth-.*$/, importReason('dnsmasq_authoritative')],
  [/^(?:conf-dir|conf-file|servers-file|hostsdir)$/, importReason('not_in_upload')],
  [/^(?:caa-record|naptr-record|dns-rr)$/, importReason('dnsmasq_record_type')],
  [/^(?:localmx|selfmx|mx-target)$/, importReason('dnsmasq_mx')],
  [/^(?:synth-domain|interface-name|dynamic-host)$/, importReason('dnsmasq_synthesized')],
  [/^alias$/, importReason('dnsmasq_changed_addresses')],
  [/^conf-script$/, importReason('dnsmasq_scripts')],
];

/** Reason why an option is not imported, and whether that matters; null for an unknown option. */
export function restOf(
  option: string,
): { readonly result: 'skipped' | 'not_mapped'; readonly reason: ImportReason } | null {
  for (const [options, reason] of SKIPPED) if (options.test(option)) return { result: 'skipped', reason };
  for (const [options, reason] of NOT_MAPPED)
    if (options.test(option)) return { result: 'not_mapped', reason };
  return null;
}

/** Options that are imported; together with the options above they identify a file of dnsmasq. */
const MAKING =
  /^(?:address|server|local|rev-server|host-record|cname|txt-record|ptr-record|mx-host|srv-host|addn-hosts|domain|domain-needed|bogus-priv|stop-dns-rebind|rebind-domain-ok|dnssec|min-cache-ttl|max-cache-ttl|max-ttl|neg-ttl|local-ttl|cache-size|use-stale-cache|bogus-nxdomain|ignore-address|local-service|filter-A|filter-AAAA|filter-rr|resolv-file|strip-subnet)$/i;

/** Whether dnsmasq has an option of this name. */
export function isOption(option: string): boolean {
  return MAKING.test(option) || restOf(option) !== null;
}
