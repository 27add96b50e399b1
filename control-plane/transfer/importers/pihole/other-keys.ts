/** Settings of Pi-hole without an equivalent key in Weir: one row each. Pure. */
import { addressFromText } from '../../../../shared/net/ip.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeKeys } from './pihole-settings.ts';

/** A setting that is reported if it differs from Pi-hole's default. */
interface OtherKey {
  readonly usual: string | number | boolean;
  readonly reason: string;
  /** It affects answers or behaviour; otherwise Weir simply has no such setting. */
  readonly differs?: true;
}

const OTHER: Readonly<Record<string, OtherKey>> = {
  'dns.CNAMEdeepInspect': {
    usual: true,
    differs: true,
    reason: 'Pi-hole does not look at aliases; Weir blocks a name whose alias is denied',
  },
  'dns.blockESNI': { usual: true, reason: 'Weir has no rule for names that begin with _esni' },
  'dns.EDNS0ECS': {
    usual: true,
    reason:
      'Weir takes the address of a client from the PROXY protocol only: see server.proxy_protocol_trusted',
  },
  'dns.showDNSSEC': { usual: true, reason: 'Weir does not log its own DNSSEC questions' },
  'dns.analyzeOnlyAandAAAA': { usual: false, reason: 'Weir logs and counts all types' },
  'dns.piholePTR': {
    usual: 'PI.HOLE',
    reason: "add a local record of the type PTR for this machine's address",
  },
  'dns.replyWhenBusy': { usual: 'ALLOW', reason: 'Weir answers without its database' },
  'dns.localise': { usual: true, reason: 'Weir returns all addresses of a local record' },
  'dns.queryLogging': { usual: true, reason: 'Weir does not write queries to a text file' },
  'dns.port': { usual: 53, reason: 'set server.dns_port' },
  'dns.cache.size': { usual: 10_000, reason: 'Weir limits the cache in bytes: see cache.max_bytes' },
  'dns.cache.upstreamBlockedTTL': { usual: 86_400, reason: "Weir keeps the upstream's TTL" },
  'dns.blocking.edns': { usual: 'TEXT', reason: 'Weir adds an extended error to blocked answers' },
  'database.useWAL': { usual: true, reason: 'Weir uses a different database' },
  'resolver.resolveIPv4': { usual: true, reason: 'Weir always looks up the names of its clients' },
  'resolver.resolveIPv6': { usual: true, reason: 'Weir always looks up the names of its clients' },
  'resolver.networkNames': { usual: true, reason: 'Weir always looks up the names of its clients' },
};

/** Sections about the program itself; they contain secrets, so only their names are shown. */
const SECTIONS: Readonly<Record<string, string>> = {
  webserver: "its web server and API: enter what you need in Weir's own settings; passwords are not imported",
  ntp: 'Weir is not a time server',
  debug: 'only for debugging that program',
  files: 'paths of its files',
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

/** The Pi-hole's own name and address. */
function reportHost(builder: PlanBuilder, { others = new Map<string, unknown>() }: PiholeKeys): void {
  for (const family of ['IPv4', 'IPv6']) {
    const address = others.get(`dns.reply.host.${family}`);
    if (typeof address !== 'string' || addressFromText(address) === null) continue;
    const reason = 'Pi-hole answers its own names with it: add a local record for the name of this machine';
    builder.notMapped('local_record', `dns.reply.host.${family} ${address}`, reason);
  }
}

/** Names that the program answers differently, whatever its settings. */
function reportNames(builder: PlanBuilder, { upstreams = [], others }: PiholeKeys): void {
  if (upstreams.length === 0) return;
  if (others?.get('dns.CNAMEdeepInspect') !== false)
    builder.differs(
      'other',
      'names whose alias is denied',
      'blocked in both; for a repeated query, Pi-hole returns the alias without an address, Weir the blocked answer',
      [],
    );
  builder.differs(
    'other',
    'pi.hole',
    'Pi-hole answers it with its own address; Weir does so only with server.alt_compat',
  );
  builder.differs(
    'other',
    'names below .local',
    'Pi-hole forwards them; Weir answers NXDOMAIN while dns.special_names is enabled',
    ['local'],
  );
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
