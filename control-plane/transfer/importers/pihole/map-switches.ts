/** Maps Pi-hole's switches and numbers to keys of Weir's configuration. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addAllowed, OWN_MACHINE, reportOpen } from '../plan/planned-access.ts';
import { addRateLimit } from '../plan/planned-pools.ts';
import type { PiholeKeys, PiholeSettings } from './pihole-settings.ts';

const MODES: Readonly<Record<string, string>> = {
  NULL: 'null_ip',
  NX: 'nxdomain',
  NXDOMAIN: 'nxdomain',
  NODATA: 'nodata',
  IP: 'custom_ip',
  IP_NODATA_AAAA: 'custom_ip',
};
/** Switches of `dns.specialDomains`, and Weir's keys for the same names. */
const SPECIAL_DOMAINS: Readonly<Record<string, string>> = {
  mozillaCanary: 'dns.block_doh_canary',
  iCloudPrivateRelay: 'dns.block_private_relay',
};
const MAX_LOG_DAYS = 3650;
const YEAR_SECS = 365 * 86_400;
/** A line for dnsmasq that a user has written, and for which Weir has an equivalent key. */
const STOPS_REBINDING = /^\s*stop-dns-rebind\s*$/;

/** Adds the keys. */
export function mapSwitches(builder: PlanBuilder, settings: PiholeSettings): void {
  const { keys } = settings;
  const { localDomain, domainNeeded, bogusPriv, blockingMode, blockTtl, rateLimit, dnssec } = keys;
  if (localDomain !== undefined && localDomain !== '')
    builder.setting({ local_domain: localDomain }, builder.item('setting', `dns.domain ${localDomain}`));
  if (domainNeeded !== undefined)
    builder.setting({ never_forward_non_fqdn: domainNeeded }, builder.item('setting', 'dns.domainNeeded'));
  if (bogusPriv !== undefined) builder.key('dns.block_private_ptr', bogusPriv, 'dns.bogusPriv');
  if (dnssec !== undefined) builder.key('dns.dnssec_enabled', dnssec, 'dns.dnssec');
  if (keys.blockingActive !== undefined)
    builder.key('blocking.enabled', keys.blockingActive, 'dns.blocking.active');
  if (blockTtl !== undefined) builder.key('blocking.ttl_secs', blockTtl, 'dns.blockTTL');
  if (blockingMode !== undefined) mapMode(builder, blockingMode, keys);
  if (rateLimit !== undefined) mapRateLimit(builder, rateLimit);
  if (keys.listeningMode !== undefined)
    mapListening(builder, keys.listeningMode, keys.networkInterface ?? '');
  mapSpecialDomains(builder, keys);
  mapLog(builder, keys);
  if (keys.staleSecs !== undefined) mapStale(builder, keys.staleSecs);
  mapRebinding(builder, settings);
  if (keys.dhcpActive === true) builder.notMapped('other', itemName('dhcp'), importReason('no_dhcp'));
}

/** The addresses with which blocked queries are answered, if set. */
export function blockingAddresses({ blockingIpv4 = '', blockingIpv6 = '' }: PiholeKeys): readonly string[] {
  return [blockingIpv4, blockingIpv6].filter((address) => address !== '');
}

function mapMode(builder: PlanBuilder, mode: string, keys: PiholeKeys): void {
  const known = MODES[mode.toUpperCase()];
  const from = 'dns.blocking.mode';
  if (known === undefined)
    return builder.notMapped('configuration', `${from} ${mode}`, importReason('unknown_value'));
  const { blockingIpv4 = '', blockingIpv6 = '' } = keys;
  const hasIpv6 = mode.toUpperCase() === 'IP' && blockingIpv6 !== '';
  if (known === 'custom_ip' && blockingIpv4 === '' && !hasIpv6)
    return builder.notMapped('configuration', `${from} ${mode}`, importReason('pihole_own_address_unknown'));
  builder.key('blocking.mode', known, from);
  if (known !== 'custom_ip') return;
  builder.key('blocking.custom_ipv4', blockingIpv4, 'dns.reply.blocking.IPv4');
  builder.key('blocking.custom_ipv6', hasIpv6 ? blockingIpv6 : '', 'dns.reply.blocking.IPv6');
  if (mode.toUpperCase() === 'IP' && (blockingIpv4 === '' || !hasIpv6))
    builder.differs(
      'configuration',
      `${from} ${mode}`,
      importReason('pihole_own_address_type', { type: hasIpv6 ? 'A' : 'AAAA' }),
      [],
    );
}

/** Pi-hole limits each address to a number of queries per interval. */
function mapRateLimit(builder: PlanBuilder, { count, interval }: { count: number; interval: number }): void {
  const limit = {
    perSecond: Math.max(1, Math.ceil(count / interval)),
    burst: count,
    ipv4PrefixLength: 32,
    ipv6PrefixLength: 128,
  };
  addRateLimit(builder, count > 0 && interval > 0 ? limit : null, 'dns.rateLimit');
}

/** Adds the key for `dns.listeningMode` of version 6, or `DNSMASQ_LISTENING` of version 5. */
function mapListening(builder: PlanBuilder, mode: string, networkInterface: string): void {
  const from = `dns.listeningMode ${mode}`;
  switch (mode.toLowerCase()) {
    case 'local':
      return addAllowed(builder, [...OWN_MACHINE, 'connected'], from);
    case 'all':
      return reportOpen(builder, from);
    case 'single':
    case 'bind':
      return builder.notMapped(
        'configuration',
        from,
        importReason('pihole_interface_open', { interface: networkInterface }),
      );
    default:
      builder.notMapped('configuration', from, importReason('pihole_allowed_clients'));
  }
}

function mapSpecialDomains(builder: PlanBuilder, { specialDomains = {} }: PiholeKeys): void {
  for (const [name, isOn] of Object.entries(specialDomains)) {
    const from = `dns.specialDomains.${name}`;
    const key = SPECIAL_DOMAINS[name];
    if (key !== undefined) builder.key(key, isOn, from);
    else if (name !== 'designatedResolver')
      builder.notMapped('configuration', from, importReason('unknown_value'));
    else if (isOn) builder.skipped('configuration', from, importReason('pihole_resolver_arpa'));
    else builder.notMapped('configuration', from, importReason('pihole_special_names'));
  }
}

/** Privacy level and retention of the log. */
function mapLog(builder: PlanBuilder, { privacyLevel, logDays }: PiholeKeys): void {
  if (privacyLevel !== undefined) {
    const from = `misc.privacylevel ${privacyLevel}`;
    builder.key('database.query_log_privacy', privacyLevel === 0 ? 'full' : 'off', from);
    if (privacyLevel === 1 || privacyLevel === 2)
      builder.differs('configuration', from, importReason('pihole_stores_nothing'), []);
  }
  if (logDays === undefined) return;
  const from = `database.maxDBdays ${logDays}`;
  builder.key('database.query_log_days', Math.min(Math.max(logDays, 1), MAX_LOG_DAYS), from);
  if (logDays === 0) builder.differs('configuration', from, importReason('pihole_day_in_memory'), []);
}

/** Seconds for which Pi-hole answers with expired records; 0 = unlimited, -1 = never. */
function mapStale(builder: PlanBuilder, secs: number): void {
  const value = secs < 0 ? 0 : secs === 0 ? YEAR_SECS : Math.min(secs, YEAR_SECS);
  builder.key('cache.serve_stale_secs', value, `dns.cache.optimizer ${secs}`);
}

/**
 * Pi-hole does not remove private addresses from answers for public names, unless a user's line for dnsmasq makes it do
 * so.
 */
function mapRebinding(builder: PlanBuilder, { keys, dnsmasqFiles }: PiholeSettings): void {
  const lines = [...(keys.dnsmasqLines ?? []), ...dnsmasqFiles.flatMap(([, ofFile]) => ofFile)];
  if (keys.upstreams === undefined || lines.some((line) => STOPS_REBINDING.test(line))) return;
  const item = builder.item('configuration', 'stop-dns-rebind is off', importReason('pihole_rebinding'));
  builder.key('dns.rebinding_protection', false, item);
}
