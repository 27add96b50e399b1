/** Pi-hole's settings besides groups, lists and domains. Pure. */
import { canonicalMac } from '../../../shared/net/mac.ts';
import { addHostsLine } from '../plan/hosts-lines.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
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
  mapUpstreams(builder, keys.upstreams ?? []);
  mapNames(builder, settings);
  for (const line of keys.revServers ?? []) mapRevServer(builder, line);
  mapSwitches(builder, keys);
  mapLeases(builder, settings);
}

function mapUpstreams(builder: PlanBuilder, upstreams: readonly string[]): void {
  const pools = new PlannedPools(builder, readUpstream);
  // Pi-hole asks all of them and goes on with the one that is first.
  pools.add('pihole', 'Fastest', upstreams);
  pools.finish('dns.upstreams');
}

function mapNames(builder: PlanBuilder, { keys, systemHosts }: PiholeSettings): void {
  // Debian gives the machine's own name an address of the loopback.
  const ofSystem = systemHosts.filter((line) => !line.startsWith('127.'));
  for (const line of [...(keys.hosts ?? []), ...ofSystem])
    if (!addHostsLine(builder, line, null))
      builder.notMapped('local_record', line, 'it is not a line of a hosts file');
  for (const line of keys.cnames ?? []) addCname(builder, line);
}

/** `name[,name...],target[,ttl]`, as dnsmasq has it. */
export function addCname(builder: PlanBuilder, line: string): void {
  const parts = line.split(',').map((part) => part.trim());
  const last = parts.at(-1) ?? '';
  const ttlSecs = /^\d{1,9}$/.test(last) && parts.length > 2 ? Number(parts.pop()) : undefined;
  const target = parts.pop() ?? '';
  if (parts.length === 0) return builder.notMapped('local_record', line, 'it is not an alias with a target');
  for (const name of parts) {
    const item = builder.item('local_record', `${name} CNAME ${target}`);
    const record = { name, type: 'CNAME', value: target } as const;
    builder.record(ttlSecs === undefined ? record : { ...record, ttlSecs }, item);
  }
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
    builder.client({ mac, ip: null, name, group: null }, builder.item('client', `${name} (lease)`));
  }
}

/** Names the client of a `dhcp-host` that has a MAC and a name. */
export function addDhcpHost(builder: PlanBuilder, line: string): void {
  const parts = line.split(',').map((part) => part.trim());
  const mac = parts.flatMap((part) => canonicalMac(part) ?? [])[0];
  const isName = (part: string): boolean =>
    /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*$/i.test(part) &&
    canonicalMac(part) === null &&
    part !== 'ignore' &&
    part !== 'infinite';
  const name = parts.find(isName);
  if (mac === undefined || name === undefined)
    return builder.notMapped('client', line, 'Weir gives no addresses, and this names no client with a MAC');
  builder.client({ mac, ip: null, name, group: null }, builder.item('client', line, 'its name only'));
}
