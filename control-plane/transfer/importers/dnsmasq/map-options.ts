/**
 * Maps dnsmasq's options to entities of Weir, from its own configuration or from lines that a Pi-hole adds to it. Pure.
 */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import type { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addAllowed, OWN_MACHINE } from '../plan/planned-access.ts';
import type { PoolStrategy } from '../plan/planned-pools.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import { DnsmasqDomains, NO_OTHER_TYPES } from './dnsmasq-domains.ts';
import { type HostsFileParts, addHostsFile } from './dnsmasq-hosts.ts';
import { addCname, addDhcpHost, addHostRecord, addOtherRecord } from './dnsmasq-records.ts';
import type { DnsmasqOption } from './dnsmasq-options.ts';
import { restOf } from './dnsmasq-rest.ts';

/** Recipients of the imported options. */
export interface OptionParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  readonly names: OwnNames;
  /** The lines of a file that an option names; undefined if the upload has no such file. */
  readonly linesOf: (path: string) => readonly string[] | undefined;
}

/** The servers for all other names. */
export interface OptionUpstreams {
  readonly servers: readonly string[];
  readonly strategy: PoolStrategy;
}

/** The state while options are read. */
interface Reading extends HostsFileParts {
  readonly domains: DnsmasqDomains;
}

type Add = (reading: Reading, value: string) => void;

const ADD: Readonly<Record<string, Add>> = {
  address: ({ domains }, value) => domains.addAddress(value),
  local: ({ domains }, value) => value.startsWith('/') && domains.addServer(value),
  server: ({ domains }, value) => value.startsWith('/') && domains.addServer(value),
  'rev-server': ({ builder }, value) => addReverse(builder, value),
  'host-record': ({ builder, ttlSecs, shown }, value) =>
    shown.push(...addHostRecord(builder, value, ttlSecs)),
  cname: ({ builder, ttlSecs }, value) => addCname(builder, value, ttlSecs),
  ...Object.fromEntries(
    ['txt-record', 'ptr-record', 'mx-host', 'srv-host'].map((option): [string, Add] => [
      option,
      ({ builder, ttlSecs, shown }, value) => {
        addOtherRecord(builder, option, value, ttlSecs);
        if (option !== 'ptr-record') shown.push(value.split(',')[0]!.trim());
      },
    ]),
  ),
  'dhcp-host': ({ builder }, value) => addDhcpHost(builder, value),
  'addn-hosts': addHostsFile,
  domain: ({ builder }, value) => addDomain(builder, value),
  'domain-needed': ({ builder }) =>
    builder.setting(
      { never_forward_non_fqdn: true },
      builder.item('setting', 'domain-needed', importReason('dnsmasq_all_query_types')),
    ),
  'bogus-priv': ({ builder }) => builder.key('dns.block_private_ptr', true, 'bogus-priv'),
  'stop-dns-rebind': ({ builder }) => builder.key('dns.rebinding_protection', true, 'stop-dns-rebind'),
  dnssec: ({ builder }) => builder.key('dns.dnssec_enabled', true, 'dnssec'),
  'strip-subnet': ({ builder }) => builder.key('dns.ecs', 'strip', 'strip-subnet'),
  'min-cache-ttl': ({ builder }, value) => addTtl(builder, 'cache.min_ttl_secs', 'min-cache-ttl', value),
  'max-cache-ttl': ({ builder }, value) => addTtl(builder, 'cache.max_ttl_secs', 'max-cache-ttl', value),
  'max-ttl': ({ builder }, value) => addTtl(builder, 'cache.max_ttl_secs', 'max-ttl', value),
  'neg-ttl': ({ builder }, value) => addTtl(builder, 'cache.negative_max_ttl_secs', 'neg-ttl', value),
  'use-stale-cache': ({ builder }, value) =>
    addTtl(
      builder,
      'cache.serve_stale_secs',
      'use-stale-cache',
      value === '' || value === '0' ? '86400' : value,
    ),
  'cache-size': ({ builder }, value) => {
    if (value === '0') builder.key('cache.enabled', false, 'cache-size=0');
    else builder.skipped('other', `cache-size=${value}`, importReason('cache_bytes'));
  },
  'local-ttl': ({ builder }, value) =>
    builder.skipped('other', `local-ttl=${value}`, importReason('dnsmasq_records_ttl')),
  'filter-a': (reading) => addFilter(reading, 'A'),
  'filter-aaaa': (reading) => addFilter(reading, 'AAAA'),
  'filter-rr': (reading, value) => {
    for (const type of value.split(',')) addFilter(reading, type.trim().toUpperCase());
  },
  'bogus-nxdomain': (reading, value) => addBogus(reading, 'bogus-nxdomain', value),
  'ignore-address': (reading, value) => addBogus(reading, 'ignore-address', value),
  'local-service': ({ builder }, value) =>
    addAllowed(builder, value === 'host' ? OWN_MACHINE : [...OWN_MACHINE, 'connected'], 'local-service'),
};

/** Options whose lines form one setting together. */
const TOGETHER = new Set(['rebind-domain-ok']);
/** Options whose lines are listed one by one. */
const EACH_LINE =
  /^(?:conf-.*|servers-file|hostsdir|caa-record|naptr-record|dns-rr|synth-domain|interface-name|dynamic-host|alias|resolv-file)$/;

/** Adds all options; returns the servers, from which the caller makes pools. */
export function mapOptions(parts: OptionParts, options: readonly DnsmasqOption[]): OptionUpstreams {
  const { builder } = parts;
  const valuesOf = (wanted: string): string[] =>
    options.flatMap(({ name, value }) => (name === wanted ? [value] : []));
  const [ttl] = valuesOf('local-ttl');
  const ttlSecs = ttl !== undefined && /^\d{1,6}$/.test(ttl) ? Number(ttl) : undefined;
  const domains = new DnsmasqDomains(parts, ttlSecs);
  const reading: Reading = {
    ...parts,
    domains,
    ttlSecs,
    domain: valuesOf('expand-hosts').length === 0 ? '' : (valuesOf('domain')[0]?.split(',')[0] ?? ''),
    shown: [],
  };
  for (const { name, value } of options) if (Object.hasOwn(ADD, name)) ADD[name]!(reading, value);
  const servers = [
    ...valuesOf('server').flatMap((value) =>
      value.startsWith('/') || value === '' ? [] : [plainServer(value)],
    ),
    ...valuesOf('resolv-file').flatMap((path) => addResolvFile(parts, path)),
  ];
  const freed = domains.finish(servers);
  if (freed.length > 0 && options.some(({ name }) => name.startsWith('filter-')))
    builder.differs('other', itemName('filtered_types'), importReason('dnsmasq_allowed_types'), freed);
  reportOutside(builder, valuesOf('cname'), reading.shown);
  if (reading.shown.length > 0)
    builder.differs('other', itemName('record_names'), NO_OTHER_TYPES, [...new Set(reading.shown)]);
  if (valuesOf('bogus-nxdomain').length > 0)
    builder.differs('list_rule', 'other types of bogus names', importReason('dnsmasq_bogus_types'), []);
  const allowed = valuesOf('rebind-domain-ok').flatMap((value) =>
    value.split('/').filter((one) => one !== ''),
  );
  if (allowed.length > 0) builder.key('dns.rebinding_allowlist', [...new Set(allowed)], 'rebind-domain-ok');
  reportRest(builder, options);
  return {
    servers,
    strategy:
      valuesOf('all-servers').length > 0
        ? 'Parallel'
        : valuesOf('strict-order').length > 0
          ? 'Failover'
          : 'Fastest',
  };
}

/** Aliases of names without a record: in dnsmasq the alias is the whole answer. */
function reportOutside(builder: PlanBuilder, lines: readonly string[], known: readonly string[]): void {
  const aliases = lines.flatMap((line) => {
    const parts = line.split(',').map((part) => part.trim());
    const target = parts.findLast((part) => !/^\d+$/.test(part)) ?? '';
    return known.includes(target) ? [] : parts.slice(0, Math.max(parts.lastIndexOf(target), 0));
  });
  if (aliases.length > 0)
    builder.differs('other', itemName('aliases'), importReason('dnsmasq_alias_targets'), aliases);
}

/**
 * Lists each remaining option once, with the number of its lines; options that name something are listed line by line.
 */
function reportRest(builder: PlanBuilder, options: readonly DnsmasqOption[]): void {
  const lines = new Map<string, string[]>();
  let unknown = 0;
  for (const { name, value } of options) {
    if (Object.hasOwn(ADD, name) || TOGETHER.has(name) || name === 'resolv-file') continue;
    if (restOf(name) === null) {
      unknown++;
      continue;
    }
    const key = EACH_LINE.test(name) ? `${name}=${value}` : name;
    lines.set(key, [...(lines.get(key) ?? []), name]);
  }
  // An unknown line may contain anything, even a password.
  if (unknown > 0)
    builder.notMapped(
      'other',
      unknown === 1 ? '1 line' : `${unknown} lines`,
      importReason('dnsmasq_unknown_option'),
    );
  for (const [key, [name = '', ...more]] of lines) {
    const shown = more.length === 0 ? key : `${key} (${more.length + 1} lines)`;
    const { result, reason } = restOf(name)!;
    if (result === 'skipped') builder.skipped('other', shown, reason);
    else builder.notMapped('other', shown, reason);
  }
}

/** `network,server`; the server may be absent, and the network may lack its length. */
function addReverse(builder: PlanBuilder, value: string): void {
  const [network = '', server = ''] = value.split(',').map((part) => part.trim());
  if (server === '')
    return builder.notMapped('forward_zone', `rev-server=${value}`, importReason('dnsmasq_private_reverse'));
  const zone = network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`;
  const read = readUpstream(plainServer(server));
  if (read.server === null) return builder.notMapped('forward_zone', zone, read.reason);
  builder.zone(
    { zone, servers: [read.server], enabled: true },
    builder.item('forward_zone', zone, read.remark),
  );
}

/** The servers of a resolv.conf. */
function addResolvFile({ builder, linesOf }: OptionParts, path: string): string[] {
  const lines = linesOf(path);
  const servers = lines?.flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
  if (servers === undefined)
    builder.notMapped('configuration', `resolv-file=${path}`, importReason('dnsmasq_servers_file'));
  else builder.skipped('other', `resolv-file=${path}`, importReason('dnsmasq_in_pool'));
  return servers ?? [];
}

/**
 * Adds a rule that answers queries for a type with NODATA, because dnsmasq removes records of this type from answers.
 */
function addFilter({ builder, lists }: Reading, type: string): void {
  const item = builder.item('list_rule', itemName('filter', { type }), importReason('denied_with_nodata'));
  lists.add(`||*^$dnstype=${type},dnsrewrite=NOERROR`, null, item);
}

function addDomain(builder: PlanBuilder, value: string): void {
  const [domain = '', network] = value.split(',');
  if (network !== undefined || domain === '#')
    return builder.notMapped('setting', `domain=${value}`, importReason('dnsmasq_one_domain'));
  builder.setting({ local_domain: domain }, builder.item('setting', `domain=${domain}`));
}

function addTtl(builder: PlanBuilder, key: string, option: string, value: string): void {
  if (/^\d{1,6}$/.test(value)) builder.key(key, Math.min(Number(value), 86_400), option);
  else builder.notMapped('configuration', `${option}=${value}`, importReason('dnsmasq_no_seconds'));
}

function addBogus({ builder, lists }: Reading, option: string, value: string): void {
  const item = builder.item('list_rule', `${option}=${value}`, importReason('dnsmasq_bogus_denied'));
  lists.add(`bogus-nxdomain=${value}`, null, item);
}

/** The server without its source interface or address, which could be mistaken for a password in a URL. */
function plainServer(written: string): string {
  return written.includes('://') ? written : (written.split('@')[0] ?? '');
}
