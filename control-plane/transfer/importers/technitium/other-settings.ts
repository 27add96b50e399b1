/**
 * General settings of a Technitium DNS Server that are not imported: each that is enabled or has a value is a row.
 * Pure.
 */
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** Read elsewhere, or covered by another key. */
const READ = new Set([
  ...[
    'forwarders',
    'forwarderProtocol',
    'concurrentForwarding',
    'blockListUrls',
    'enableBlocking',
    'blockingType',
  ],
  ...[
    'customBlockingAddresses',
    'blockingAnswerTtl',
    'recursion',
    'recursionNetworkACL',
    'recursionDeniedNetworks',
  ],
  ...['recursionAllowedNetworks', 'dnssecValidation', 'cacheMinimumRecordTtl', 'cacheMaximumRecordTtl'],
  ...['serveStale', 'serveStaleTtl', 'saveCache', 'blockingBypassList'],
]);
/** About the program: how it runs, listens, logs and queries. */
const OF_PROGRAM =
  /^(?:version|uptimestamp|dnsServer.*|webService.*|dnsTls.*|dnsOver.*|enableDnsOver.*|dotPort|doh.*|doq.*|tcp.*|udp.*|quic.*|listen.*|max.*|log.*|enableLogging|ignoreResolverLogs|useLocalTime|enableInMemoryStats|proxy|tsigKeys|notify.*|cache.*|resolver.*|forwarder.*|client.*|serveStale.*|zone.*|default.*|randomizeName|qnameMinimization|preferIPv6|ipv6Mode|enableUdpSocketPool|socketPool.*|blockListUpdateIntervalHours|blockListNextUpdatedOn|nsRevalidation|nsRev.*)$/;
const REASONS: readonly (readonly [keys: RegExp, reason: string])[] = [
  [/^qpm/i, 'Weir limits queries per second: see dns.rate_limit'],
  [/^eDnsClientSubnet/, 'Weir only forwards the subnets that clients send: dns.ecs'],
  [/^dnsApp/, 'Weir has no apps'],
];

/** Adds a row for each; values are not shown, as some are secrets. */
export function reportOtherSettings(builder: PlanBuilder, settings: ForeignTree): void {
  for (const [key, value] of settings.members()) {
    if (READ.has(key) || isOff(value)) continue;
    if (OF_PROGRAM.test(key)) builder.skipped('other', key, 'it only affects how the other program runs');
    else {
      const reason = REASONS.find(([keys]) => keys.test(key))?.[1] ?? 'Weir has no such setting';
      builder.notMapped('other', key, reason);
    }
  }
}

/** No value, or a switch that is off. */
function isOff(value: ForeignTree): boolean {
  const { raw } = value;
  return raw === null || raw === false || raw === 0 || raw === '' || (Array.isArray(raw) && raw.length === 0);
}
