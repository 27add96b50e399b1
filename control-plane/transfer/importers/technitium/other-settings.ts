/**
 * General settings of a Technitium DNS Server that are not imported: each setting that is enabled or has a value
 * becomes a row. Pure.
 */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** Keys that other files read, or that another key includes. */
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
/** Keys about the program: how it runs, listens, logs and queries. */
const OF_PROGRAM =
  /^(?:version|uptimestamp|dnsServer.*|webService.*|dnsTls.*|dnsOver.*|enableDnsOver.*|dotPort|doh.*|doq.*|tcp.*|udp.*|quic.*|listen.*|max.*|log.*|enableLogging|ignoreResolverLogs|useLocalTime|enableInMemoryStats|proxy|tsigKeys|notify.*|cache.*|resolver.*|forwarder.*|client.*|serveStale.*|zone.*|default.*|randomizeName|qnameMinimization|preferIPv6|ipv6Mode|enableUdpSocketPool|socketPool.*|blockListUpdateIntervalHours|blockListNextUpdatedOn|nsRevalidation|nsRev.*)$/;
const REASONS: readonly (readonly [keys: RegExp, reason: ImportReason])[] = [
  [/^qpm/i, importReason('technitium_rate_limit')],
  [/^eDnsClientSubnet/, importReason('client_subnets_only')],
  [/^dnsApp/, importReason('technitium_apps')],
];

/** Adds a row for each setting; values are not shown, because some are secrets. */
export function reportOtherSettings(builder: PlanBuilder, settings: ForeignTree): void {
  for (const [key, value] of settings.members()) {
    if (READ.has(key) || isOff(value)) continue;
    if (OF_PROGRAM.test(key)) builder.skipped('other', key, importReason('other_program_only'));
    else {
      const reason = REASONS.find(([keys]) => keys.test(key))?.[1] ?? importReason('no_such_setting');
      builder.notMapped('other', key, reason);
    }
  }
}

/** Whether a setting has no value, or is a disabled switch. */
function isOff(value: ForeignTree): boolean {
  const { raw } = value;
  return raw === null || raw === false || raw === 0 || raw === '' || (Array.isArray(raw) && raw.length === 0);
}
