/** Settings of blocky that are not imported: each is listed once, with the reason. Pure. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

type Rest = 'read' | { readonly skipped: ImportReason } | { readonly notMapped: ImportReason };

const OF_PROGRAM: Rest = { skipped: importReason('other_program_only') };
const OF_DOWNLOADS: Rest = { skipped: importReason('blocky_downloads') };

/** The reasons by key, or by the section before the first dot; a key takes precedence over its section. */
const REST: Readonly<Record<string, Rest>> = {
  ...read(
    'upstreams.groups',
    'upstreams.strategy',
    'upstreams.timeout',
    'upstream',
    'upstreamTimeout',
    'bootstrapDns',
  ),
  ...read('customDNS.customTTL', 'customDNS.mapping', 'customDNS.zone', 'customDNS.rewrite'),
  ...read('customDNS.filterUnmappedTypes', 'conditional.mapping', 'conditional.rewrite'),
  ...read('blocking.denylists', 'blocking.allowlists', 'blocking.blackLists', 'blocking.whiteLists'),
  ...read('blocking.clientGroupsBlock', 'blocking.blockType', 'blocking.blockTTL', 'blocking.refreshPeriod'),
  ...read('blocking.schedules', 'blocking.listSchedules', 'blocking.loading'),
  ...read(
    'clientLookup.clients',
    'clientLookup.upstream',
    'disableIPv6',
    'fqdnOnly',
    'filtering',
    'rateLimit',
  ),
  ...read('caching.minTime', 'caching.maxTime', 'caching.cacheTimeNegative', 'rebindingProtection'),
  ...read('queryLog.logRetentionDays', 'queryLog.type', 'queryLog.fields', 'queryLog.ignore'),
  ...read('hostsFile.sources', 'hostsFile.filePath', 'hostsFile.hostsTTL', 'hostsFile.filterLoopback'),
  ...read('specialUseDomains', 'dnssec.validate', 'ecs.forward'),
  'upstreams.init': OF_PROGRAM,
  'upstreams.userAgent': OF_PROGRAM,
  'upstreams.quic': OF_PROGRAM,
  'customDNS.fallbackUpstream': {
    notMapped: importReason('blocky_never_forwards'),
  },
  'conditional.fallbackUpstream': {
    notMapped: importReason('blocky_zone_fallback'),
  },
  'clientLookup.singleNameOrder': { notMapped: importReason('blocky_first_name') },
  'caching.exclude': { notMapped: importReason('blocky_caches_all') },
  'caching.prefetching': { skipped: importReason('blocky_refreshes') },
  'caching.prefetchExpires': { skipped: importReason('blocky_popular') },
  'caching.prefetchThreshold': { skipped: importReason('blocky_popular') },
  'caching.prefetchMaxItemsCount': { skipped: importReason('blocky_popular') },
  'caching.maxItemsCount': { skipped: importReason('cache_bytes') },
  'queryLog.target': { skipped: importReason('blocky_own_database') },
  'queryLog.creationAttempts': OF_PROGRAM,
  'queryLog.creationCooldown': OF_PROGRAM,
  'queryLog.flushInterval': OF_PROGRAM,
  'hostsFile.loading': { skipped: importReason('blocky_hosts_records') },
  'hostsFile.refreshPeriod': { skipped: importReason('blocky_hosts_records') },
  'blocking.downloadTimeout': OF_DOWNLOADS,
  'blocking.downloadAttempts': OF_DOWNLOADS,
  'blocking.downloadCooldown': OF_DOWNLOADS,
  'blocking.failStartOnListError': OF_DOWNLOADS,
  'blocking.processingConcurrency': OF_DOWNLOADS,
  'blocking.startStrategy': OF_DOWNLOADS,
  'blocking.maxErrorsPerFile': OF_DOWNLOADS,
  connectIPVersion: { notMapped: importReason('blocky_all_addresses') },
  'dnssec.trustAnchors': { notMapped: importReason('trust_anchors') },
  dnssec: OF_PROGRAM,
  ecs: { notMapped: importReason('client_subnets_only') },
  dns64: { notMapped: importReason('no_ipv6_synthesis') },
  ede: { skipped: importReason('blocky_ede') },
  'ports.tls': { notMapped: importReason('blocky_dot') },
  'ports.https': { notMapped: importReason('blocky_doh') },
  'ports.proxyProtocol': { notMapped: importReason('blocky_proxy') },
  certFile: { notMapped: importReason('blocky_tls_cert') },
  keyFile: { notMapped: importReason('blocky_tls_key') },
  prometheus: { skipped: importReason('blocky_metrics') },
  statistics: { skipped: importReason('blocky_statistics') },
  ...Object.fromEntries(
    ['ports', 'log', 'redis', 'http3', 'minTlsServeVersion', 'startVerifyUpstream', 'dohUserAgent', 'port']
      .concat(['httpPort', 'httpsPort', 'tlsPort', 'logLevel', 'logFormat', 'logPrivacy', 'logTimestamp'])
      .map((key) => [key, OF_PROGRAM]),
  ),
};

/** Adds a row for each key that is not imported. */
export function reportBlockyRest(builder: PlanBuilder, file: ForeignTree): void {
  for (const [section, value] of file.members()) {
    const ofSection = restOf(section);
    const keys = ofSection === 'read' ? [] : value.members().map(([name]) => `${section}.${name}`);
    for (const key of keys.length === 0 && ofSection !== 'read' ? [section] : keys) {
      const rest = restOf(key) ?? ofSection ?? { notMapped: importReason('no_such_setting') };
      if (rest === 'read') continue;
      // Weir lacks the feature, which has the same effect as disabling it.
      if (file.flag(key) === false) builder.skipped('other', key, importReason('file_disabled'));
      else if ('skipped' in rest) builder.skipped('other', key, rest.skipped);
      else builder.notMapped('other', key, rest.notMapped);
    }
  }
  reportSchedules(builder, file);
}

/** A file may contain any key, even `constructor`. */
function restOf(key: string): Rest | undefined {
  return Object.hasOwn(REST, key) ? REST[key] : undefined;
}

/** Lists that only apply at certain times. */
function reportSchedules(builder: PlanBuilder, file: ForeignTree): void {
  const scheduled = file.members('blocking.listSchedules');
  const used = new Set(scheduled.flatMap(([, names]) => names.texts() ?? []));
  for (const [list, names] of scheduled)
    builder.differs(
      'other',
      `blocking.listSchedules ${list}`,
      importReason('blocky_list_times', { schedules: (names.texts() ?? []).join(', ') }),
      [],
    );
  for (const [name] of file.members('blocking.schedules'))
    if (!used.has(name))
      builder.skipped('other', `blocking.schedules ${name}`, importReason('blocky_schedule_unused'));
}

function read(...keys: readonly string[]): Record<string, Rest> {
  return Object.fromEntries(keys.map((key) => [key, 'read']));
}
