/** Pi-hole's names, servers and leases. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import { optionsOf } from '../dnsmasq/dnsmasq-options.ts';
import { addCname, addDhcpHost, addHostRecord } from '../dnsmasq/dnsmasq-records.ts';
import { mapOptions, type OptionParts } from '../dnsmasq/map-options.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { addAddress, isSystemName, readHostsLine } from '../plan/hosts-lines.ts';
import { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { PlannedPools } from '../plan/planned-pools.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import { mapSwitches } from './map-switches.ts';
import type { PiholeKeys, PiholeSettings } from './pihole-settings.ts';

const NO_OTHER_TYPES = importReason('other_types');
/** Addresses that mean "no host"; Pi-hole answers with any other address, even a loopback address. */
const NO_HOST = new Set(['0.0.0.0', '::']);
/**
 * Zones that Pi-hole 6 never forwards, in addition to its local domain; Weir also has other such zones, such as
 * home.arpa.
 */
const LOCAL_ZONES = ['internal', 'bind'];

/** Adds the names, servers and leases; returns the names that have records. */
export function mapKeys(builder: PlanBuilder, settings: PiholeSettings): readonly string[] {
  const { keys } = settings;
  const lists = new GeneratedLists(builder, 'Pi-hole: lines for dnsmasq', 'pihole-dnsmasq');
  const names = new OwnNames(builder, lists);
  const recorded = mapNames(builder, names, settings);
  const servers = mapDnsmasqLines({ builder, lists, names }, settings);
  mapUpstreams(builder, [...(keys.upstreams ?? []), ...servers]);
  for (const line of keys.revServers ?? []) mapRevServer(builder, line, keys.domainNeeded === false);
  mapSwitches(builder, settings);
  mapLeases(builder, settings);
  names.finish();
  lists.finish();
  return recorded;
}

/**
 * Adds the lines for Pi-hole's dnsmasq: Pi-hole's own lines about zones, and those of users. Returns the servers in
 * them.
 */
function mapDnsmasqLines(
  { builder, lists, names }: Omit<OptionParts, 'linesOf'>,
  { keys, dnsmasqFiles }: PiholeSettings,
): readonly string[] {
  const lines = [
    ...localLines(keys),
    ...(keys.revServers ?? []).flatMap((line) => domainLine(line)),
    ...(keys.dnsmasqLines ?? []),
    ...dnsmasqFiles.flatMap(([, ofFile]) => ofFile),
  ];
  return mapOptions({ builder, lists, names, linesOf: () => undefined }, optionsOf(lines)).servers;
}

function mapUpstreams(builder: PlanBuilder, upstreams: readonly string[]): void {
  const pools = new PlannedPools(builder, readUpstream);
  // Pi-hole queries all upstreams and keeps using the first one to answer.
  pools.add('pihole', 'Fastest', upstreams);
  pools.finish('dns.upstreams');
}

function mapNames(builder: PlanBuilder, names: OwnNames, settings: PiholeSettings): readonly string[] {
  const { keys, systemHosts } = settings;
  const recorded = new Set<string>();
  const sinks: string[] = [];
  // Debian maps the machine's own name to a loopback address.
  const ofSystem = systemHosts.filter((line) => !/^(?:127\.|::1\s)/.test(line));
  for (const line of [...(keys.hosts ?? []), ...ofSystem]) {
    const read = readHostsLine(line);
    if (read === null) {
      builder.notMapped('local_record', line, importReason('pihole_not_hosts_line'));
      continue;
    }
    for (const written of read.names.filter((name) => !isSystemName(name)))
      for (const name of expanded(written, keys)) {
        if (NO_HOST.has(read.address)) {
          names.add({ name, action: 'deny', groups: null });
          sinks.push(name);
        } else addAddress(builder, name, read.address);
        recorded.add(name);
      }
  }
  for (const line of keys.cnames ?? []) {
    addCname(builder, line);
    recorded.add(line.split(',')[0]!.trim());
  }
  if ((keys.hostRecord ?? '') !== '') {
    addHostRecord(builder, keys.hostRecord!);
    for (const part of keys.hostRecord!.split(',')) recorded.add(part.trim());
  }
  const all = [...recorded].filter((name) => addressFromText(name) === null);
  reportNames(builder, settings, all, sinks);
  return all;
}

/** Reports differences between records of Weir and of Pi-hole. */
function reportNames(
  builder: PlanBuilder,
  { keys, lists }: PiholeSettings,
  names: readonly string[],
  sinks: readonly string[],
): void {
  const onList = importReason('pihole_record_answers');
  if (names.length > 0 && lists.some(({ kind, enabled }) => kind === 'block' && enabled))
    builder.differs('other', itemName('record_names'), onList, names);
  const { blockingMode = 'NULL' } = keys;
  if (sinks.length > 0 && blockingMode.toUpperCase() !== 'NULL')
    builder.differs(
      'other',
      'names with 0.0.0.0 or ::',
      importReason('pihole_denied_address', { mode: blockingMode }),
      sinks,
    );
  const suffix = keys.isDomainLocal === true ? `.${keys.localDomain ?? ''}` : null;
  const isForwarded = (name: string): boolean =>
    name.includes('.')
      ? suffix === null || !name.toLowerCase().endsWith(suffix)
      : keys.domainNeeded === false;
  const forwarded = names.filter(isForwarded);
  if (forwarded.length > 0) builder.differs('other', itemName('record_types'), NO_OTHER_TYPES, forwarded);
}

/** With `expandHosts`, a single-label name also exists in the local domain. */
function expanded(name: string, { expandHosts, localDomain = '' }: PiholeKeys): string[] {
  const isExpanded = expandHosts === true && localDomain !== '' && !name.includes('.');
  // The first name becomes the name of the address.
  return isExpanded ? [`${name}.${localDomain}`, name] : [name];
}

/** `local=/zone/`: names with local data get it as their answer, all other names in the zone get NXDOMAIN. */
function localLines(keys: PiholeKeys): string[] {
  const { localDomain = '', isDomainLocal } = keys;
  if (isDomainLocal === undefined) return [];
  const forwarded = new Set(
    (keys.revServers ?? []).map(readRevServer).flatMap(({ isOn, domain }) => (isOn ? [domain] : [])),
  );
  const zones = [...(isDomainLocal && localDomain !== '' ? [localDomain] : []), ...LOCAL_ZONES].filter(
    (zone) => !forwarded.has(zone.toLowerCase()),
  );
  return zones.map((zone) => `local=/${zone.toLowerCase()}/`);
}

/** An entry of `revServers`. */
interface RevServer {
  readonly isOn: boolean;
  readonly network: string;
  readonly server: string;
  readonly domain: string;
}

function readRevServer(line: string): RevServer {
  const [state = '', network = '', server = '', domain = ''] = line.split(',').map((part) => part.trim());
  return { isOn: state === 'true' || state === '1', network, server, domain: domain.toLowerCase() };
}

/** The line for the domain of an active entry; the lines of other options decide which zone gets it. */
function domainLine(line: string): string[] {
  const { isOn, server, domain } = readRevServer(line);
  return isOn && domain !== '' && readUpstream(server).server !== null ? [`server=/${domain}/${server}`] : [];
}

function mapRevServer(builder: PlanBuilder, line: string, getsSingleLabels: boolean): void {
  const { isOn, network, server, domain } = readRevServer(line);
  const read = readUpstream(server);
  for (const zone of [network, domain]) {
    if (zone === '') continue;
    if (read.server === null) {
      builder.notMapped('forward_zone', zone, read.reason);
      continue;
    }
    if (isOn && zone === domain) continue;
    const item = builder.item('forward_zone', zone, read.remark);
    builder.zone({ zone, servers: [read.server], enabled: isOn }, item);
  }
  if (isOn && getsSingleLabels && read.server !== null)
    builder.differs('forward_zone', `names without a dot to ${server}`, importReason('pihole_dotless'), []);
}

/**
 * Adds the leases: `mac,ip,name` in any order from dnsmasq's `dhcp-host`, and `expiry mac ip name id` from its lease
 * file.
 */
function mapLeases(builder: PlanBuilder, { keys, leases }: PiholeSettings): void {
  for (const line of keys.dhcpHosts ?? []) addDhcpHost(builder, line);
  for (const line of leases) {
    const [, written = '', , name = '*'] = line.split(/\s+/);
    const mac = canonicalMac(written);
    if (mac === null || name === '*') continue;
    builder.client(
      { mac, ip: null, key: null, name, group: null },
      builder.item('client', itemName('lease', { name })),
    );
  }
}
