/** blocky's single settings as keys of Weir's configuration. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addBootstrap, addRateLimit, type PlannedPools, type PoolStrategy } from '../plan/planned-pools.ts';
import { placeOf } from '../plan/client-place.ts';
import { isFqdnOnly } from './blocky-names.ts';
import { readBlockyUpstream } from './blocky-upstream.ts';
import { mapQueryLog } from './blocky-query-log.ts';

const STRATEGIES: Readonly<Record<string, PoolStrategy>> = {
  parallel_best: 'Parallel',
  strict: 'Failover',
  random: 'Balanced',
};
const DAY_SECS = 86_400;
/** Adds the keys. */
export function mapBlockyKeys(
  builder: PlanBuilder,
  pools: PlannedPools,
  lists: GeneratedLists,
  file: ForeignTree,
): void {
  mapUpstreams(builder, pools, file);
  mapBlocking(builder, file);
  mapCaching(builder, file);
  mapQueryLog(builder, file);
  mapAnswers(builder, lists, file);
  mapRateLimit(builder, file);
  mapClientLookup(builder, file);
}

function mapUpstreams(builder: PlanBuilder, pools: PlannedPools, file: ForeignTree): void {
  const groups = [...file.members('upstreams.groups'), ...file.members('upstream')];
  // The oldest versions called the servers of all clients `externalResolvers`.
  for (const [name, servers] of groups) {
    if (name === 'default' || name === 'externalResolvers')
      pools.add(
        'blocky',
        STRATEGIES[file.text('upstreams.strategy') ?? ''] ?? 'Parallel',
        servers.texts() ?? [],
      );
    else
      builder.notMapped('configuration', `upstreams.groups ${name}`, importReason('blocky_client_upstreams'));
  }
  pools.finish('upstreams.groups.default');
  const one = file.text('bootstrapDns');
  const several = file.list('bootstrapDns').flatMap((entry) => entry.text() ?? entry.text('upstream') ?? []);
  addBootstrap(
    builder,
    one === undefined ? [...several, ...textsOf(file, 'bootstrapDns.upstream')] : [one],
    'bootstrapDns',
  );
  const secs = goDurationSecs(file.text('upstreams.timeout') ?? file.text('upstreamTimeout'), 60);
  if (secs !== undefined) {
    const ms = Math.min(Math.max(secs * 1000, 100), 60_000);
    builder.key('dns.query_timeout_ms', ms, 'upstreams.timeout');
  }
}

function textsOf(file: ForeignTree, key: string): string[] {
  const text = file.text(key);
  return text === undefined ? [] : [text];
}

/** Answers that involve neither a list nor a server. */
function mapAnswers(builder: PlanBuilder, lists: GeneratedLists, file: ForeignTree): void {
  if (isFqdnOnly(file)) {
    builder.key('dns.block_non_fqdn', true, 'fqdnOnly');
    builder.differs('other', 'fqdnOnly', importReason('blocky_localhost'), ['localhost']);
  }
  if (file.flag('specialUseDomains.enable') === false) {
    builder.key('dns.special_names', false, 'specialUseDomains.enable');
    builder.key('dns.block_private_ptr', false, 'specialUseDomains.enable');
  }
  const isProtected = file.flag('rebindingProtection.enable');
  if (isProtected !== undefined)
    builder.key('dns.rebinding_protection', isProtected, 'rebindingProtection.enable');
  const allowed = file.texts('rebindingProtection.allowedDomains') ?? [];
  if (allowed.length > 0)
    builder.key('dns.rebinding_allowlist', allowed, 'rebindingProtection.allowedDomains');
  const isValidated = file.flag('dnssec.validate');
  if (isValidated !== undefined) builder.key('dns.dnssec_enabled', isValidated, 'dnssec.validate');
  if (file.flag('ecs.forward') === true) builder.key('dns.ecs', 'forward', 'ecs.forward');
  const types = file.texts('filtering.queryTypes') ?? [];
  for (const type of [...types, ...(file.flag('disableIPv6') === true ? ['AAAA'] : [])]) {
    const item = builder.item(
      'list_rule',
      `filtering.queryTypes ${type}`,
      importReason('denied_with_nodata'),
    );
    lists.add(`||*^$dnstype=${type.toUpperCase()},dnsrewrite=NOERROR`, null, item);
  }
}

function mapRateLimit(builder: PlanBuilder, file: ForeignTree): void {
  if (file.flag('rateLimit.enable') !== true) return;
  const perSecond = file.count('rateLimit.rate') ?? 0;
  const burst = file.count('rateLimit.burst') ?? 0;
  const prefixes = {
    ipv4PrefixLength: file.count('rateLimit.ipv4Prefix') ?? 32,
    ipv6PrefixLength: file.count('rateLimit.ipv6Prefix') ?? 64,
  };
  addRateLimit(builder, { perSecond, burst: burst === 0 ? 2 * perSecond : burst, ...prefixes }, 'rateLimit');
  const allowed = file.texts('rateLimit.allowlist') ?? [];
  if (allowed.length > 0) builder.key('dns.rate_limit.whitelist', allowed, 'rateLimit.allowlist');
}

/** The router that resolves the names of clients. */
function mapClientLookup(builder: PlanBuilder, file: ForeignTree): void {
  const written = file.text('clientLookup.upstream');
  if (written === undefined) return;
  const item = builder.item('setting', `clientLookup.upstream ${written}`);
  const { server } = readBlockyUpstream(written);
  const [, host, port = ':53'] =
    /^(?:udp:\/\/)?(\[[^\]]+\]|[^[\]/:]+|[^[\]/]+:[^[\]/]*:[^[\]/]*)(:\d+)?$/.exec(server ?? '') ?? [];
  if (host === undefined) return builder.refuse(item, importReason('blocky_plain_lookup'));
  builder.setting({ local_dns_server: `${/^[^[].*:/.test(host) ? `[${host}]` : host}${port}` }, item);
  builder.remark(item, importReason('blocky_lookup_use'));
}

function mapBlocking(builder: PlanBuilder, file: ForeignTree): void {
  const type = file.text('blocking.blockType');
  if (type !== undefined) mapBlockType(builder, type);
  const ttl = goDurationSecs(file.text('blocking.blockTTL'), 60);
  if (ttl !== undefined) builder.key('blocking.ttl_secs', Math.min(ttl, DAY_SECS), 'blocking.blockTTL');
  const written = file.text('blocking.loading.refreshPeriod') ?? file.text('blocking.refreshPeriod');
  const refresh = goDurationSecs(written, 60);
  if (refresh !== undefined && refresh > 0)
    builder.key('blocking.list_refresh_hours', Math.min(Math.ceil(refresh / 3600), 8760), 'refreshPeriod');
}

function mapBlockType(builder: PlanBuilder, type: string): void {
  const mode = { zeroip: 'null_ip', nxdomain: 'nxdomain' }[type.toLowerCase()];
  if (mode !== undefined) return builder.key('blocking.mode', mode, 'blocking.blockType');
  const addresses = type.split(',').map((one) => one.trim());
  if (!addresses.every((address) => placeOf(address)?.kind === 'ip'))
    return builder.notMapped('configuration', `blocking.blockType ${type}`, importReason('unknown_value'));
  builder.key('blocking.mode', 'custom_ip', 'blocking.blockType');
  for (const address of addresses)
    builder.key(`blocking.custom_${address.includes(':') ? 'ipv6' : 'ipv4'}`, address, 'blocking.blockType');
}

function mapCaching(builder: PlanBuilder, file: ForeignTree): void {
  const min = goDurationSecs(file.text('caching.minTime'), 60) ?? 0;
  const max = goDurationSecs(file.text('caching.maxTime'), 60) ?? 0;
  const negative = goDurationSecs(file.text('caching.cacheTimeNegative'), 60) ?? 0;
  if (min > 0) builder.key('cache.min_ttl_secs', Math.min(min, DAY_SECS), 'caching.minTime');
  if (max > 0) builder.key('cache.max_ttl_secs', max, 'caching.maxTime');
  if (negative > 0)
    builder.key('cache.negative_max_ttl_secs', Math.min(negative, DAY_SECS), 'caching.cacheTimeNegative');
  if (file.text('caching.maxTime')?.startsWith('-') === true)
    builder.key('cache.enabled', false, 'caching.maxTime');
}
