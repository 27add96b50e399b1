/** Pi-hole's settings besides groups, lists and domains. Pure. */
import { canonicalMac } from '../../../../shared/net/mac.ts';
import { optionsOf } from '../dnsmasq/dnsmasq-options.ts';
import { addCname, addDhcpHost } from '../dnsmasq/dnsmasq-records.ts';
import { mapOptions, type OptionParts } from '../dnsmasq/map-options.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { addHostsLine } from '../plan/hosts-lines.ts';
import { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addAllowed, OWN_MACHINE, reportOpen } from '../plan/planned-access.ts';
import { addRateLimit, PlannedPools } from '../plan/planned-pools.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import type { PiholeKeys, PiholeSettings } from './pihole-settings.ts';

const MODES: Readonly<Record<string, string>> = {
  NULL: 'null_ip',
  NX: 'nxdomain',
  NXDOMAIN: 'nxdomain',
  NODATA: 'nodata',
  IP: 'custom_ip',
  IP_NODATA_AAAA: 'custom_ip',
};
/** The names behind `dns.specialDomains`. */
const SPECIAL_DOMAINS: Readonly<Record<string, string>> = {
  mozillaCanary: 'use-application-dns.net',
  iCloudPrivateRelay: 'mask.icloud.com and mask-h2.icloud.com',
  designatedResolver: 'resolver.arpa',
};

/** Adds them all. */
export function mapKeys(builder: PlanBuilder, settings: PiholeSettings): void {
  const { keys } = settings;
  const lists = new GeneratedLists(builder, 'Pi-hole: lines for dnsmasq', 'pihole-dnsmasq');
  const names = new OwnNames(builder, lists);
  mapNames(builder, names, settings);
  const servers = mapDnsmasqLines({ builder, lists, names }, settings);
  mapUpstreams(builder, [...(keys.upstreams ?? []), ...servers]);
  for (const line of keys.revServers ?? []) mapRevServer(builder, line);
  mapSwitches(builder, keys);
  mapLeases(builder, settings);
  names.finish();
  lists.finish();
}

/** Lines that people added for the dnsmasq within Pi-hole; returns the servers that they name. */
function mapDnsmasqLines(
  { builder, lists, names }: Omit<OptionParts, 'linesOf'>,
  { keys, dnsmasqFiles }: PiholeSettings,
): readonly string[] {
  const lines = [...(keys.dnsmasqLines ?? []), ...dnsmasqFiles.flatMap(([, ofFile]) => ofFile)];
  return mapOptions({ builder, lists, names, linesOf: () => undefined }, optionsOf(lines)).servers;
}

function mapUpstreams(builder: PlanBuilder, upstreams: readonly string[]): void {
  const pools = new PlannedPools(builder, readUpstream);
  // Pi-hole asks all of them and goes on with the one that is first.
  pools.add('pihole', 'Fastest', upstreams);
  pools.finish('dns.upstreams');
}

function mapNames(builder: PlanBuilder, names: OwnNames, { keys, systemHosts }: PiholeSettings): void {
  // Debian gives the machine's own name an address of the loopback.
  const ofSystem = systemHosts.filter((line) => !line.startsWith('127.'));
  for (const line of [...(keys.hosts ?? []), ...ofSystem])
    if (!addHostsLine(builder, names, line, null))
      builder.notMapped('local_record', line, 'it is not a line of a hosts file');
  for (const line of keys.cnames ?? []) addCname(builder, line);
}

function mapRevServer(builder: PlanBuilder, line: string): void {
  const [state = '', network = '', server = '', domain = ''] = line.split(',').map((part) => part.trim());
  const read = readUpstream(server);
  for (const zone of [network, domain]) {
    if (zone === '') continue;
    if (read.server === null) {
      builder.notMapped('forward_zone', zone, read.reason);
      continue;
    }
    const item = builder.item('forward_zone', zone, read.remark);
    builder.zone({ zone, servers: [read.server], enabled: state === 'true' }, item);
  }
}

function mapSwitches(builder: PlanBuilder, keys: PiholeKeys): void {
  const { localDomain, domainNeeded, bogusPriv, blockingMode, blockTtl, rateLimit, dnssec } = keys;
  if (localDomain !== undefined && localDomain !== '')
    builder.setting({ local_domain: localDomain }, builder.item('setting', `dns.domain ${localDomain}`));
  if (domainNeeded !== undefined)
    builder.setting({ never_forward_non_fqdn: domainNeeded }, builder.item('setting', 'dns.domainNeeded'));
  if (bogusPriv !== undefined) builder.key('dns.block_private_ptr', bogusPriv, 'dns.bogusPriv');
  if (dnssec !== undefined) builder.key('dns.dnssec_enabled', dnssec, 'dns.dnssec');
  if (keys.blockingActive !== undefined)
    builder.key('blocking.enabled', keys.blockingActive, 'dns.blocking.active');
  if (blockTtl !== undefined) builder.key('blocking.ttl_secs', blockTtl, 'dns.blockTTL');
  if (blockingMode !== undefined) mapMode(builder, blockingMode);
  if (rateLimit !== undefined) mapRateLimit(builder, rateLimit);
  if (keys.listeningMode !== undefined)
    mapListening(builder, keys.listeningMode, keys.networkInterface ?? '');
  for (const [name, isOn] of Object.entries(keys.specialDomains ?? {})) {
    const domains = SPECIAL_DOMAINS[name];
    if (domains === undefined || !isOn) continue;
    builder.skipped('setting', `dns.specialDomains.${name}`, `Weir answers ${domains} like that by itself`);
  }
  if (keys.dhcpActive === true) builder.notMapped('other', 'DHCP server', 'Weir does not give out addresses');
}

function mapMode(builder: PlanBuilder, mode: string): void {
  const known = MODES[mode.toUpperCase()];
  if (known === undefined)
    return builder.notMapped('configuration', `dns.blocking.mode ${mode}`, 'unknown to Weir');
  builder.key('blocking.mode', known, 'dns.blocking.mode');
  if (known === 'custom_ip')
    builder.notMapped(
      'configuration',
      'dns.blocking.mode',
      'set blocking.custom_ipv4 to the address of this machine',
    );
}

/** Pi-hole limits each address to a number of queries in a span. */
function mapRateLimit(builder: PlanBuilder, { count, interval }: { count: number; interval: number }): void {
  const limit = {
    perSecond: Math.max(1, Math.ceil(count / interval)),
    burst: count,
    ipv4PrefixLength: 32,
    ipv6PrefixLength: 128,
  };
  addRateLimit(builder, count > 0 && interval > 0 ? limit : null, 'dns.rateLimit');
}

/** `mac,ip,name` in any order, of dnsmasq's `dhcp-host`; and `expiry mac ip name id` of its leases. */
function mapLeases(builder: PlanBuilder, { keys, leases }: PiholeSettings): void {
  for (const line of keys.dhcpHosts ?? []) addDhcpHost(builder, line);
  for (const line of leases) {
    const [, written = '', , name = '*'] = line.split(/\s+/);
    const mac = canonicalMac(written);
    if (mac === null || name === '*') continue;
    builder.client(
      { mac, ip: null, key: null, name, group: null },
      builder.item('client', `${name} (lease)`),
    );
  }
}

/** Adds the key for `dns.listeningMode` of version 6, or `DNSMASQ_LISTENING` of version 5. */
function mapListening(builder: PlanBuilder, mode: string, networkInterface: string): void {
  const from = `dns.listeningMode ${mode}`;
  switch (mode.toLowerCase()) {
    case 'local':
      return addAllowed(builder, [...OWN_MACHINE, 'connected'], from);
    case 'all':
      return reportOpen(builder, from);
    case 'single':
    case 'bind':
      return builder.notMapped(
        'configuration',
        from,
        `it answers anyone who reaches the interface ${networkInterface}: set server.bind_address to its addresses, and dns.allowed_clients to the networks of your clients`,
      );
    default:
      builder.notMapped('configuration', from, 'set dns.allowed_clients to the networks of your clients');
  }
}
