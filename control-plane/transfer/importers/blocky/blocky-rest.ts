/** Settings of blocky that are not imported: each is listed once, with the reason. Pure. */
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

type Rest = 'read' | { readonly skipped: string } | { readonly notMapped: string };

const OF_PROGRAM: Rest = { skipped: 'it only affects how the other program runs' };
const OF_DOWNLOADS: Rest = { skipped: 'Weir fetches lists with its own settings' };

/** By key, or by the section before the first dot; a key takes precedence over its section. */
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
    notMapped: 'Weir answers names with local records itself and never forwards them',
  },
  'conditional.fallbackUpstream': {
    notMapped: "Weir does not ask other servers for a name that the zone's servers do not have",
  },
  'clientLookup.singleNameOrder': { notMapped: 'Weir uses the first name that the server returns' },
  'caching.exclude': { notMapped: 'Weir caches answers for all names until they expire' },
  'caching.prefetching': { skipped: 'Weir refreshes popular names: cache.optimistic_refresh' },
  'caching.prefetchExpires': { skipped: 'Weir decides by itself which names are popular' },
  'caching.prefetchThreshold': { skipped: 'Weir decides by itself which names are popular' },
  'caching.prefetchMaxItemsCount': { skipped: 'Weir decides by itself which names are popular' },
  'caching.maxItemsCount': { skipped: 'Weir limits the cache in bytes: cache.max_bytes' },
  'queryLog.target': { skipped: 'Weir stores queries in its own database' },
  'queryLog.creationAttempts': OF_PROGRAM,
  'queryLog.creationCooldown': OF_PROGRAM,
  'queryLog.flushInterval': OF_PROGRAM,
  'hostsFile.loading': { skipped: 'the lines are imported as local records: edit those instead' },
  'hostsFile.refreshPeriod': { skipped: 'the lines are imported as local records: edit those instead' },
  'blocking.downloadTimeout': OF_DOWNLOADS,
  'blocking.downloadAttempts': OF_DOWNLOADS,
  'blocking.downloadCooldown': OF_DOWNLOADS,
  'blocking.failStartOnListError': OF_DOWNLOADS,
  'blocking.processingConcurrency': OF_DOWNLOADS,
  'blocking.startStrategy': OF_DOWNLOADS,
  'blocking.maxErrorsPerFile': OF_DOWNLOADS,
  connectIPVersion: { notMapped: 'Weir uses every address of an upstream' },
  'dnssec.trustAnchors': { notMapped: 'set dns.dnssec_trust_anchors to a file with them' },
  dnssec: OF_PROGRAM,
  ecs: { notMapped: 'Weir only forwards the subnets that clients send: dns.ecs' },
  dns64: { notMapped: 'Weir does not synthesize IPv6 addresses from IPv4 addresses' },
  ede: { skipped: 'Weir always includes the reason for a block' },
  'ports.tls': { notMapped: 'set server.encrypted_dns.dot_enabled in the configuration file' },
  'ports.https': { notMapped: 'set server.encrypted_dns.doh_enabled in the configuration file' },
  'ports.proxyProtocol': { notMapped: 'set server.proxy_protocol_enabled in the configuration file' },
  certFile: { notMapped: 'set server.encrypted_dns.tls_cert_path in the configuration file' },
  keyFile: { notMapped: 'set server.encrypted_dns.tls_key_path in the configuration file' },
  prometheus: { skipped: 'Weir has its own metrics' },
  statistics: { skipped: 'Weir has its own statistics' },
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
      const rest = restOf(key) ?? ofSection ?? { notMapped: 'Weir has no such setting' };
      if (rest === 'read') continue;
      // In Weir it is always off.
      if (file.flag(key) === false) builder.skipped('other', key, 'it is disabled in the file');
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
      `blocky uses its lists only at the times of ${(names.texts() ?? []).join(', ')}, and Weir always: use blocked services or a schedule profile instead`,
      [],
    );
  for (const [name] of file.members('blocking.schedules'))
    if (!used.has(name)) builder.skipped('other', `blocking.schedules ${name}`, 'no list uses it');
}

function read(...keys: readonly string[]): Record<string, Rest> {
  return Object.fromEntries(keys.map((key) => [key, 'read']));
}
