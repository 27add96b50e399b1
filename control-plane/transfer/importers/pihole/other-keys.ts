/** Settings of Pi-hole without an equivalent key in Weir: one row each. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeKeys } from './pihole-settings.ts';

/** A setting that is reported if it differs from Pi-hole's default. */
interface OtherKey {
  readonly usual: string | number | boolean;
  readonly reason: ImportReason;
  /** Whether the setting affects answers or behaviour; if not, it is only reported as missing in Weir. */
  readonly differs?: true;
}

const OTHER: Readonly<Record<string, OtherKey>> = {
  'dns.CNAMEdeepInspect': {
    usual: true,
    differs: true,
    reason: importReason('pihole_aliases'),
  },
  'dns.blockESNI': { usual: true, reason: importReason('pihole_esni') },
  'dns.EDNS0ECS': {
    usual: true,
    reason: importReason('pihole_proxy_protocol'),
  },
  'dns.showDNSSEC': { usual: true, reason: importReason('pihole_dnssec_queries') },
  'dns.analyzeOnlyAandAAAA': { usual: false, reason: importReason('pihole_all_types') },
  'dns.piholePTR': {
    usual: 'PI.HOLE',
    reason: importReason('pihole_ptr'),
  },
  'dns.replyWhenBusy': { usual: 'ALLOW', reason: importReason('pihole_without_database') },
  'dns.localise': { usual: true, reason: importReason('pihole_all_addresses') },
  'dns.queryLogging': { usual: true, reason: importReason('pihole_text_log') },
  'dns.port': { usual: 53, reason: importReason('pihole_port') },
  'dns.cache.size': { usual: 10_000, reason: importReason('pihole_cache_bytes') },
  'dns.cache.upstreamBlockedTTL': { usual: 86_400, reason: importReason('pihole_upstream_ttl') },
  'dns.blocking.edns': { usual: 'TEXT', reason: importReason('pihole_ede') },
  'database.useWAL': { usual: true, reason: importReason('pihole_database') },
  'resolver.resolveIPv4': { usual: true, reason: importReason('pihole_client_names') },
  'resolver.resolveIPv6': { usual: true, reason: importReason('pihole_client_names') },
  'resolver.networkNames': { usual: true, reason: importReason('pihole_client_names') },
};

/** Sections about the program itself; they contain secrets, so only their names are shown. */
const SECTIONS: Readonly<Record<string, ImportReason>> = {
  webserver: importReason('pihole_web_server'),
  ntp: importReason('pihole_time_server'),
  debug: importReason('pihole_debug'),
  files: importReason('pihole_paths'),
};

/** Adds the rows. */
export function reportOtherKeys(builder: PlanBuilder, keys: PiholeKeys): void {
  const { others = new Map<string, unknown>() } = keys;
  for (const [key, { usual, reason, differs }] of Object.entries(OTHER)) {
    const value = others.get(key);
    if (!isScalar(value) || value === usual) continue;
    const name = `${key} ${String(value)}`;
    if (differs === true) builder.differs('configuration', name, reason, []);
    else builder.notMapped('configuration', name, reason);
  }
  reportHost(builder, keys);
  reportNames(builder, keys);
  for (const [section, reason] of Object.entries(SECTIONS))
    if ([...others.keys()].some((key) => key.startsWith(`${section}.`)))
      builder.skipped('other', section, reason);
}

/** Reports settings of Pi-hole's own name and address. */
function reportHost(builder: PlanBuilder, { others = new Map<string, unknown>() }: PiholeKeys): void {
  for (const family of ['IPv4', 'IPv6']) {
    const address = others.get(`dns.reply.host.${family}`);
    if (typeof address !== 'string' || addressFromText(address) === null) continue;
    const reason = importReason('pihole_own_names');
    builder.notMapped('local_record', `dns.reply.host.${family} ${address}`, reason);
  }
}

/** Reports names that Pi-hole answers differently, regardless of its settings. */
function reportNames(builder: PlanBuilder, { upstreams = [], others }: PiholeKeys): void {
  if (upstreams.length === 0) return;
  if (others?.get('dns.CNAMEdeepInspect') !== false)
    builder.differs('other', itemName('denied_alias'), importReason('pihole_denied_alias'), []);
  builder.differs('other', 'pi.hole', importReason('pihole_pi_hole_name'));
  builder.differs('other', itemName('local_names'), importReason('pihole_dot_local'), ['local']);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
