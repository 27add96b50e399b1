/** blocky's single settings as keys of Weir's configuration, and those that Weir has no place for. Pure. */
import type { ForeignTree } from '../files/foreign-tree.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addBootstrap, type PlannedPools, type PoolStrategy } from '../plan/planned-pools.ts';
import { placeOf } from '../plan/client-place.ts';

const STRATEGIES: Readonly<Record<string, PoolStrategy>> = {
  parallel_best: 'Parallel',
  strict: 'Failover',
  random: 'Balanced',
};
const DAY_SECS = 86_400;
/** Sections that are read, here or elsewhere. */
const READ = new Set([
  ...[
    'upstreams',
    'upstream',
    'bootstrapDns',
    'customDNS',
    'conditional',
    'blocking',
    'clientLookup',
    'caching',
  ],
  ...['queryLog', 'hostsFile', 'fqdnOnly', 'startVerifyUpstream', 'upstreamTimeout'],
]);

/** Adds them. */
export function mapBlockyKeys(builder: PlanBuilder, pools: PlannedPools, file: ForeignTree): void {
  mapUpstreams(builder, pools, file);
  mapBlocking(builder, file);
  mapCaching(builder, file);
  const days = file.count('queryLog.logRetentionDays') ?? 0;
  if (days > 0) builder.key('database.query_log_days', Math.min(days, 3650), 'queryLog.logRetentionDays');
  if (file.flag('fqdnOnly.enable') === true || file.flag('fqdnOnly') === true)
    builder.key('dns.block_non_fqdn', true, 'fqdnOnly');
  for (const key of ['blocking.schedules', 'blocking.listSchedules'])
    if (file.members(key).length > 0)
      builder.notMapped('other', key, 'Weir has no schedules of single lists: they block at all times');
  for (const [key] of file.members())
    if (!READ.has(key)) builder.notMapped('other', key, 'this section is not imported');
}

function mapUpstreams(builder: PlanBuilder, pools: PlannedPools, file: ForeignTree): void {
  const groups = [...file.members('upstreams.groups'), ...file.members('upstream')];
  // The oldest versions named the servers of all clients `externalResolvers`.
  for (const [name, servers] of groups) {
    if (name === 'default' || name === 'externalResolvers')
      pools.add(
        'blocky',
        STRATEGIES[file.text('upstreams.strategy') ?? ''] ?? 'Parallel',
        servers.texts() ?? [],
      );
    else
      builder.notMapped(
        'configuration',
        `upstreams.groups ${name}`,
        'Weir has no upstreams of single clients',
      );
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
    return builder.notMapped('configuration', `blocking.blockType ${type}`, 'unknown to Weir');
  builder.key('blocking.mode', 'custom_ip', 'blocking.blockType');
  for (const address of addresses)
    builder.key(`blocking.custom_${address.includes(':') ? 'ipv6' : 'ipv4'}`, address, 'blocking.blockType');
}

function mapCaching(builder: PlanBuilder, file: ForeignTree): void {
  const least = goDurationSecs(file.text('caching.minTime'), 60) ?? 0;
  const most = goDurationSecs(file.text('caching.maxTime'), 60) ?? 0;
  const negative = goDurationSecs(file.text('caching.cacheTimeNegative'), 60) ?? 0;
  if (least > 0) builder.key('cache.min_ttl_secs', Math.min(least, DAY_SECS), 'caching.minTime');
  if (most > 0) builder.key('cache.max_ttl_secs', most, 'caching.maxTime');
  if (negative > 0)
    builder.key('cache.negative_max_ttl_secs', Math.min(negative, DAY_SECS), 'caching.cacheTimeNegative');
  if (file.text('caching.maxTime')?.startsWith('-') === true)
    builder.key('cache.enabled', false, 'caching.maxTime');
}
