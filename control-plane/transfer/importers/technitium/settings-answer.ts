/** Technitium's general settings, in the form of its `/api/settings/get`. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { isIP } from 'node:net';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PlannedPools } from '../plan/planned-pools.ts';
import { readServer, type ReadUpstream, readUpstream } from '../plan/upstream-text.ts';
import { listOf } from './read-technitium.ts';
import { reportOtherSettings } from './other-settings.ts';
import { mapRecursionAccess } from './recursion-access.ts';

const MODES: Readonly<Record<string, string>> = {
  AnyAddress: 'null_ip',
  NxDomain: 'nxdomain',
  CustomAddress: 'custom_ip',
};
const WORDS = { noGroup: importReason('technitium_no_client'), noText: importReason('not_a_url') };
const DAY_SECS = 86_400;

/** A forwarder preceded by its protocol: `Tls dns.example.org:853 (192.0.2.1)`. */
export function readForwarder(written: string): ReadUpstream {
  const [protocol = '', place = '', pinned = ''] = written.split(' ');
  const address = pinned.replace(/^\((.*)\)$/, '$1');
  const scheme = { udp: '', tcp: 'tcp://', tls: 'tls://', https: 'https://', quic: 'quic://' }[
    protocol.toLowerCase()
  ];
  if (scheme === undefined)
    return { server: null, reason: importReason('technitium_protocol', { protocol }) };
  const url = place.includes('://') && URL.canParse(place) ? new URL(place) : null;
  const host = url === null ? place : url.host;
  const path = url === null ? '' : url.pathname;
  const isPinned = isIP(address) > 0 && /^(?:tls|https)/.test(scheme);
  const pin = isPinned ? `@${isIP(address) === 6 ? `[${address}]` : address}` : '';
  const isName =
    scheme === '' && isIP(host.replace(/:\d+$/, '')) === 0 && isIP(host) === 0 && !host.startsWith('[');
  if (place.includes('://') && readUpstream(place).server === null) return readUpstream(place);
  return readServer(
    `${isName ? 'udp://' : scheme}${isIP(host) === 6 && scheme !== '' ? `[${host}]` : host}${pin}${path}`,
  );
}

/** Adds the keys and the rows of these settings. */
export function mapTechnitiumSettings(
  builder: PlanBuilder,
  pools: PlannedPools,
  settings: ForeignTree,
): void {
  const protocol = settings.text('forwarderProtocol') ?? 'Udp';
  const forwarders = settings.texts('forwarders') ?? [];
  const strategy = settings.flag('concurrentForwarding') === false ? 'Failover' : 'Parallel';
  pools.add(
    'technitium',
    strategy,
    forwarders.map((one) => `${protocol} ${one}`),
  );
  pools.finish('forwarders');
  for (const written of settings.texts('blockListUrls') ?? []) {
    const { url, kind, enabled } = listOf(written);
    addForeignList(builder, { kind, place: url, enabled, subdomains: true, groups: null }, WORDS);
  }
  mapBlocking(builder, settings);
  mapRecursionAccess(builder, settings);
  const dnssec = settings.flag('dnssecValidation');
  if (dnssec !== undefined) builder.key('dns.dnssec_enabled', dnssec, 'dnssecValidation');
  const min = settings.count('cacheMinimumRecordTtl') ?? 0;
  const max = settings.count('cacheMaximumRecordTtl') ?? 0;
  if (min > 0) builder.key('cache.min_ttl_secs', Math.min(min, DAY_SECS), 'cacheMinimumRecordTtl');
  if (max > 0) builder.key('cache.max_ttl_secs', Math.min(max, DAY_SECS), 'cacheMaximumRecordTtl');
  mapServeStale(builder, settings);
  if (settings.flag('saveCache') === true) builder.key('cache.persist', true, 'saveCache');
  for (const network of settings.texts('blockingBypassList') ?? [])
    builder.notMapped('client', `blockingBypassList ${network}`, importReason('technitium_bypass'));
  reportOtherSettings(builder, settings);
}

function mapServeStale(builder: PlanBuilder, settings: ForeignTree): void {
  const isOn = settings.flag('serveStale');
  if (isOn === false) builder.key('cache.serve_stale_secs', 0, 'serveStale');
  const secs = settings.count('serveStaleTtl') ?? 0;
  if (isOn === true && secs > 0)
    builder.key('cache.serve_stale_secs', Math.min(secs, 7 * DAY_SECS), 'serveStaleTtl');
}

function mapBlocking(builder: PlanBuilder, settings: ForeignTree): void {
  const isOn = settings.flag('enableBlocking');
  if (isOn !== undefined) builder.key('blocking.enabled', isOn, 'enableBlocking');
  const type = settings.text('blockingType');
  const mode = MODES[type ?? ''];
  if (type !== undefined && mode === undefined)
    builder.notMapped('configuration', `blockingType ${type}`, importReason('unknown_value'));
  if (mode !== undefined) builder.key('blocking.mode', mode, 'blockingType');
  for (const address of mode === 'custom_ip' ? (settings.texts('customBlockingAddresses') ?? []) : [])
    if (isIP(address) > 0)
      builder.key(`blocking.custom_ipv${isIP(address)}`, address, 'customBlockingAddresses');
  const ttl = settings.count('blockingAnswerTtl');
  if (ttl !== undefined) builder.key('blocking.ttl_secs', Math.min(ttl, DAY_SECS), 'blockingAnswerTtl');
}
