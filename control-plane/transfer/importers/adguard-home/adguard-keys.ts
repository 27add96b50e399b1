/** AdGuard Home's single settings, as keys of Weir's configuration; and those that Weir has no place for. Pure. */
import { admitsKey } from '../../../../shared/policy/access.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addRateLimit } from '../plan/planned-pools.ts';
import { addAllowed, addBlocked, reportOpen } from '../plan/planned-access.ts';
import { adguardPlaceOf } from './adguard-clients.ts';
import type { AdguardSettings } from './adguard-settings.ts';

const MIN_CACHE_BYTES = 1_048_576;
const DAY_SECS = 86_400;
const MODES: Readonly<Record<string, string>> = {
  default: 'null_ip',
  null_ip: 'null_ip',
  nxdomain: 'nxdomain',
  refused: 'refused',
  custom_ip: 'custom_ip',
};

/** Adds them. */
export function mapAdguardKeys(builder: PlanBuilder, { dns, filtering, file }: AdguardSettings): void {
  mapBlocking(builder, filtering);
  mapLimits(builder, dns);
  mapCache(builder, dns);
  mapLog(builder, file);
  mapNames(builder, dns, file);
  mapAdguardAccess(builder, dns);
  reportUnknown(builder, dns, filtering, file);
}

function mapBlocking(builder: PlanBuilder, filtering: ForeignTree): void {
  const isOn = filtering.flag('protection_enabled');
  if (isOn !== undefined) builder.key('blocking.enabled', isOn, 'protection_enabled');
  const mode = filtering.text('blocking_mode');
  const known = MODES[mode ?? ''];
  if (mode !== undefined && known === undefined)
    builder.notMapped('configuration', `blocking_mode ${mode}`, 'unknown to Weir');
  if (known !== undefined) builder.key('blocking.mode', known, 'blocking_mode');
  for (const version of ['ipv4', 'ipv6']) {
    const address = filtering.text(`blocking_${version}`) ?? '';
    if (known === 'custom_ip' && address !== '')
      builder.key(`blocking.custom_${version}`, address, `blocking_${version}`);
  }
  const ttl = filtering.count('blocked_response_ttl');
  if (ttl !== undefined) builder.key('blocking.ttl_secs', Math.min(ttl, DAY_SECS), 'blocked_response_ttl');
  const hours = filtering.count('filters_update_interval');
  if (hours !== undefined && hours > 0)
    builder.key('blocking.list_refresh_hours', Math.min(hours, 8760), 'filters_update_interval');
}

/** Questions per second of a network; older versions counted each address. */
function mapLimits(builder: PlanBuilder, dns: ForeignTree): void {
  const perSecond = dns.count('ratelimit');
  if (perSecond === undefined) return;
  const limit = {
    perSecond,
    burst: perSecond,
    ipv4PrefixLength: dns.count('ratelimit_subnet_len_ipv4') ?? 32,
    ipv6PrefixLength: dns.count('ratelimit_subnet_len_ipv6') ?? 128,
  };
  addRateLimit(builder, perSecond === 0 ? null : limit, 'dns.ratelimit');
  const exempt = dns.texts('ratelimit_whitelist') ?? [];
  const networks = exempt.map((one) => (one.includes('/') ? one : `${one}/${one.includes(':') ? 128 : 32}`));
  if (networks.length > 0) builder.key('dns.rate_limit.whitelist', networks, 'dns.ratelimit_whitelist');
}

function mapCache(builder: PlanBuilder, dns: ForeignTree): void {
  const bytes = dns.count('cache_size');
  const isOn = dns.flag('cache_enabled') ?? (bytes === undefined ? undefined : bytes > 0);
  if (isOn !== undefined) builder.key('cache.enabled', isOn, 'dns.cache_size');
  if (bytes !== undefined && bytes > 0)
    builder.key('cache.max_bytes', Math.max(bytes, MIN_CACHE_BYTES), 'dns.cache_size');
  const least = dns.count('cache_ttl_min') ?? 0;
  const most = dns.count('cache_ttl_max') ?? 0;
  if (least > 0) builder.key('cache.min_ttl_secs', Math.min(least, DAY_SECS), 'dns.cache_ttl_min');
  if (most > 0) builder.key('cache.max_ttl_secs', most, 'dns.cache_ttl_max');
}

function mapLog(builder: PlanBuilder, file: ForeignTree): void {
  const isOn = file.flag('querylog.enabled') ?? file.flag('dns.querylog_enabled');
  if (isOn !== undefined) builder.key('database.log_queries', isOn, 'querylog.enabled');
  // A number is of days, in older schemas.
  const old = file.text('dns.querylog_interval') ?? file.text('querylog.interval');
  const secs = goDurationSecs(old, DAY_SECS);
  if (secs !== undefined && secs > 0) {
    const days = Math.min(Math.max(Math.ceil(secs / DAY_SECS), 1), 3650);
    builder.key('database.query_log_days', days, 'querylog.interval');
  }
}

function mapNames(builder: PlanBuilder, dns: ForeignTree, file: ForeignTree): void {
  const domain = file.text('dhcp.local_domain_name') ?? dns.text('local_domain_name') ?? '';
  if (domain !== '')
    builder.setting({ local_domain: domain }, builder.item('setting', `local_domain_name ${domain}`));
  for (const written of dns.texts('blocked_hosts') ?? []) {
    const item = builder.item('managed_domain', `blocked_hosts ${written}`);
    const name = canonicalDomain(written.replace(/^\|\|/, '*.').replace(/\^$/, '').replace(/^\*\./, ''));
    if (name === null) builder.refuse(item, 'it is not a domain name');
    else
      builder.rule(
        {
          table: 'managed_domains',
          text: written.startsWith('||') || written.startsWith('*.') ? `*.${name}` : name,
          action: 'deny',
          groups: null,
          comment: '',
          enabled: true,
        },
        item,
      );
  }
}

/** Settings that are in use there and have no equivalent. */
function reportUnknown(
  builder: PlanBuilder,
  dns: ForeignTree,
  filtering: ForeignTree,
  file: ForeignTree,
): void {
  const report = (isUsed: boolean, name: string, reason: string): void => {
    if (isUsed) builder.notMapped('other', name, reason);
  };
  const isOn = (tree: ForeignTree, key: string): boolean => tree.flag(key) === true;
  const isListed = (key: string): boolean => dns.list(key).length > 0;
  report(
    isOn(filtering, 'safebrowsing_enabled'),
    'safe browsing',
    'it asks a service in the cloud; add lists instead',
  );
  report(
    isOn(filtering, 'parental_enabled'),
    'parental control',
    'it asks a service in the cloud; add lists instead',
  );
  report(
    isOn(dns, 'enable_dnssec'),
    'dns.enable_dnssec',
    'AdGuard Home only passes signatures on; Weir validates them with dns.dnssec_enabled: decide whether it is to',
  );
  report(
    isOn(dns, 'aaaa_disabled'),
    'dns.aaaa_disabled',
    'switch on no_ipv6 for the groups that are to have no IPv6 answers',
  );
  report(
    isListed('bogus_nxdomain'),
    'dns.bogus_nxdomain',
    'add a list with lines such as bogus-nxdomain=192.0.2.1',
  );
  report(isListed('ipset'), 'dns.ipset', 'Weir fills no sets of addresses');
  report(isOn(dns, 'use_dns64'), 'dns.use_dns64', 'Weir makes no addresses of IPv4 addresses');
  report(isOn(file, 'dhcp.enabled'), 'DHCP server', 'Weir does not give out addresses');
  report(isOn(file, 'tls.enabled'), 'encrypted DNS and HTTPS', 'certificates and keys are not imported');
  report(file.list('users').length > 0, 'users', 'passwords are not imported');
}

/** Adds who may ask, and who may not. There, the first one replaces the second, and an empty one lets anyone ask. */
function mapAdguardAccess(builder: PlanBuilder, dns: ForeignTree): void {
  const allowed = dns.texts('allowed_clients') ?? [];
  const blocked = dns.texts('disallowed_clients') ?? [];
  if (allowed.length === 0) {
    if (dns.has('allowed_clients')) reportOpen(builder, 'dns.allowed_clients');
    addBlocked(builder, knownPlaces(builder, blocked, 'dns.disallowed_clients'), 'dns.disallowed_clients');
    return;
  }
  const places = knownPlaces(builder, allowed, 'dns.allowed_clients');
  const keys = places.filter((text) => adguardPlaceOf(text)?.kind === 'key');
  for (const key of keys) {
    if (!admitsKey(key)) {
      builder.notMapped(
        'client',
        `dns.allowed_clients ${key}`,
        'its key is too short to let it ask from anywhere',
      );
      continue;
    }
    builder.client(
      { mac: null, ip: null, key, name: null, group: null },
      builder.item('client', `dns.allowed_clients ${key}`, 'a client with a known key may ask from anywhere'),
    );
  }
  const networks = places.filter((text) => !keys.includes(text));
  addAllowed(builder, networks, 'dns.allowed_clients');
  for (const text of blocked)
    builder.skipped(
      'configuration',
      `dns.disallowed_clients ${text}`,
      'it has no effect there beside dns.allowed_clients',
    );
}

/** The addresses, networks and ClientIDs; others are reported. */
function knownPlaces(builder: PlanBuilder, written: readonly string[], from: string): string[] {
  return written.flatMap((text) => {
    const place = adguardPlaceOf(text);
    if (place !== null) return [place.text];
    builder.notMapped('configuration', `${from} ${text}`, 'it is not an address, network or ClientID');
    return [];
  });
}
