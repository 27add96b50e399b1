/** AdGuard Home's single settings, as keys of Weir's configuration. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addRateLimit } from '../plan/planned-pools.ts';
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

/** Default timeouts and cache sizes of AdGuard Home. */
const DEFAULT_TIMEOUT_SECS = 10;
const DEFAULT_CACHE_BYTES = 4_194_304;
/** Proxies that are trusted by default. */
const DEFAULT_PROXIES = ['127.0.0.0/8', '::1/128'];

/** Adds the keys. */
export function mapAdguardKeys(
  builder: PlanBuilder,
  { dns, filtering, file, leases }: AdguardSettings,
): void {
  mapBlocking(builder, filtering);
  mapLimits(builder, dns);
  mapCache(builder, dns);
  mapQuestions(builder, dns);
  mapLocalDomain(builder, { dns, file, leases });
}

function mapBlocking(builder: PlanBuilder, filtering: ForeignTree): void {
  mapProtection(builder, filtering);
  const mode = filtering.text('blocking_mode');
  const known = MODES[mode ?? ''];
  if (mode !== undefined && known === undefined)
    builder.notMapped('configuration', `blocking_mode ${mode}`, importReason('unknown_value'));
  if (known !== undefined) builder.key('blocking.mode', known, 'blocking_mode');
  for (const version of ['ipv4', 'ipv6']) {
    const address = filtering.text(`blocking_${version}`) ?? '';
    if (known === 'custom_ip' && address !== '')
      builder.key(`blocking.custom_${version}`, address, `blocking_${version}`);
  }
  const ttl = filtering.count('blocked_response_ttl');
  if (ttl !== undefined) builder.key('blocking.ttl_secs', Math.min(ttl, DAY_SECS), 'blocked_response_ttl');
  const hours = filtering.count('filters_update_interval');
  if (hours === 0) builder.differs('other', 'filters_update_interval 0', importReason('adguard_updates'), []);
  else if (hours !== undefined)
    builder.key('blocking.list_refresh_hours', Math.min(hours, 8760), 'filters_update_interval');
}

/** If protection is disabled until a given time, blocking is paused until then. */
function mapProtection(builder: PlanBuilder, filtering: ForeignTree): void {
  const isOn = filtering.flag('protection_enabled');
  if (isOn === undefined) return;
  const untilMs = Date.parse(filtering.text('protection_disabled_until') ?? '');
  builder.key('blocking.enabled', isOn || !Number.isNaN(untilMs), 'protection_enabled');
  if (isOn || Number.isNaN(untilMs)) return;
  const until = new Date(untilMs);
  const shown = `protection_disabled_until ${until.toISOString()}`;
  if (untilMs <= Date.now()) return builder.skipped('setting', shown, importReason('adguard_pause_passed'));
  builder.pause(until, builder.item('setting', shown, importReason('adguard_pause')));
}

/** Queries per second of a network; older versions counted per address. */
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
  const networks = exempt.map(asNetwork);
  if (networks.length > 0) builder.key('dns.rate_limit.whitelist', networks, 'dns.ratelimit_whitelist');
}

function mapCache(builder: PlanBuilder, dns: ForeignTree): void {
  const bytes = dns.count('cache_size');
  const isOn = dns.flag('cache_enabled') ?? (bytes === undefined ? undefined : bytes > 0);
  if (isOn !== undefined) builder.key('cache.enabled', isOn, 'dns.cache_size');
  if (bytes !== undefined && bytes > 0)
    builder.key(
      'cache.max_bytes',
      Math.max(bytes, MIN_CACHE_BYTES),
      'dns.cache_size',
      bytes === DEFAULT_CACHE_BYTES ? importReason('adguard_cache_default') : null,
    );
  const min = dns.count('cache_ttl_min') ?? 0;
  const max = dns.count('cache_ttl_max') ?? 0;
  if (min > 0) builder.key('cache.min_ttl_secs', Math.min(min, DAY_SECS), 'dns.cache_ttl_min');
  if (max > 0) builder.key('cache.max_ttl_secs', max, 'dns.cache_ttl_max');
  if (dns.flag('cache_optimistic') === true) mapOptimistic(builder, dns);
}

/** AdGuard Home answers with expired records while it fetches new records; Weir does so only if no upstream answers. */
function mapOptimistic(builder: PlanBuilder, dns: ForeignTree): void {
  const remark = importReason('adguard_stale');
  builder.key(
    'cache.optimistic_refresh',
    true,
    builder.item('configuration', 'dns.cache_optimistic', remark),
  );
  const age = goDurationSecs(dns.text('cache_optimistic_max_age'), 1) ?? 0;
  if (age > 0) builder.key('cache.serve_stale_secs', age, 'dns.cache_optimistic_max_age');
}

/** Settings for receiving and forwarding queries. */
function mapQuestions(builder: PlanBuilder, dns: ForeignTree): void {
  const timeoutSecs = goDurationSecs(dns.text('upstream_timeout'), 1) ?? 0;
  if (timeoutSecs > 0)
    builder.key(
      'dns.query_timeout_ms',
      Math.min(timeoutSecs * 1000, 60_000),
      'dns.upstream_timeout',
      timeoutSecs === DEFAULT_TIMEOUT_SECS ? importReason('adguard_timeout_default') : null,
    );
  mapSubnets(builder, dns);
  if (dns.flag('enable_dnssec') === true)
    builder.key('dns.dnssec_enabled', true, 'dns.enable_dnssec', importReason('adguard_dnssec'));
  const proxies = (dns.texts('trusted_proxies') ?? []).map(asNetwork);
  if (proxies.some((network) => !DEFAULT_PROXIES.includes(network)))
    builder.key('server.trusted_proxies', proxies, 'dns.trusted_proxies');
}

/** Client subnets (RFC 7871). */
function mapSubnets(builder: PlanBuilder, dns: ForeignTree): void {
  if (dns.flag('edns_client_subnet.enabled') !== true) return;
  const remark = importReason('adguard_ecs');
  builder.key('dns.ecs', 'forward', builder.item('configuration', 'dns.edns_client_subnet', remark));
  const custom = dns.text('edns_client_subnet.custom_ip') ?? '';
  if (dns.flag('edns_client_subnet.use_custom') === true && custom !== '')
    builder.notMapped(
      'configuration',
      `dns.edns_client_subnet.custom_ip ${custom}`,
      importReason('adguard_custom_ecs'),
    );
}

function asNetwork(text: string): string {
  return text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
}

/** The domain of the DHCP server, in which the server answers the names of its leases. */
function mapLocalDomain(
  builder: PlanBuilder,
  { dns, file, leases }: Pick<AdguardSettings, 'dns' | 'file' | 'leases'>,
): void {
  const domain = file.text('dhcp.local_domain_name') ?? dns.text('local_domain_name') ?? '';
  if (domain === '') return;
  const shown = `local_domain_name ${domain}`;
  if (file.flag('dhcp.enabled') !== true)
    return builder.skipped('setting', shown, importReason('adguard_dhcp_domain'));
  builder.setting({ local_domain: domain }, builder.item('setting', shown));
  for (const { name, address, isStatic } of leases) {
    if (name === '') continue;
    const item = builder.item('local_record', itemName('lease', { name: `${name}.${domain} ${address}` }));
    if (!isStatic) builder.refuse(item, importReason('adguard_lease'));
    else builder.record({ name: `${name}.${domain}`, type: 'A', value: address }, item);
  }
}
