/** dnsmasq's options as entities of Weir: of its own configuration, or of the lines that a Pi-hole adds to it. Pure. */
import { addressFromText } from '../../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import { addHostsLine } from '../plan/hosts-lines.ts';
import type { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addAllowed, OWN_MACHINE } from '../plan/planned-access.ts';
import type { PoolStrategy } from '../plan/planned-pools.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import { addAddressOfAll, addCname, addDhcpHost, addHostRecord, addOtherRecord } from './dnsmasq-records.ts';
import type { DnsmasqOption } from './dnsmasq-options.ts';

/** Where options go. */
export interface OptionParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  readonly names: OwnNames;
  /** The lines of a file that an option names; undefined where the upload has no such file. */
  readonly linesOf: (path: string) => readonly string[] | undefined;
}

/** The servers for all other names. */
export interface OptionUpstreams {
  readonly servers: readonly string[];
  readonly strategy: PoolStrategy;
}

/** Options about the program itself, which say nothing about answers. */
const OF_PROGRAM =
  /^(?:port|interface|except-interface|listen-address|bind-interfaces|bind-dynamic|user|group|pid-file|log-.*|no-resolv|no-poll|no-hosts|resolv-file|no-daemon|keep-in-foreground|dns-forward-max|clear-on-reload|edns-packet-max|domain-suffix|local-ttl|dns-loop-detect|localise-queries|query-port|min-port|max-port|filterwin2k|cache-size|proxy-dnssec|trust-anchor|dnssec-check-unsigned|read-ethers|strip-mac|enable-dbus|quiet-.*|all-servers|strict-order|expand-hosts)$/;
const OF_DHCP = /^(?:dhcp-.*|tftp-.*|enable-tftp|enable-ra|ra-param|pxe-.*)$/;

type Add = (parts: OptionParts, value: string, all: readonly DnsmasqOption[]) => void;

const ADD: Readonly<Record<string, Add>> = {
  address: ({ builder, names }, value) => addAddressOption(builder, names, value),
  local: addServerOption,
  server: addServerOption,
  'rev-server': ({ builder }, value) => addReverse(builder, value),
  'host-record': ({ builder }, value) => addHostRecord(builder, value),
  cname: ({ builder }, value) => addCname(builder, value),
  'txt-record': ({ builder }, value) => addOtherRecord(builder, 'txt-record', value),
  'ptr-record': ({ builder }, value) => addOtherRecord(builder, 'ptr-record', value),
  'mx-host': ({ builder }, value) => addOtherRecord(builder, 'mx-host', value),
  'srv-host': ({ builder }, value) => addOtherRecord(builder, 'srv-host', value),
  'dhcp-host': ({ builder }, value) => addDhcpHost(builder, value),
  'addn-hosts': addHostsFile,
  domain: ({ builder }, value) => addDomain(builder, value),
  'domain-needed': ({ builder }) =>
    builder.setting({ never_forward_non_fqdn: true }, builder.item('setting', 'domain-needed')),
  'bogus-priv': ({ builder }) => builder.key('dns.block_private_ptr', true, 'bogus-priv'),
  'stop-dns-rebind': ({ builder }) => builder.key('dns.rebinding_protection', true, 'stop-dns-rebind'),
  'rebind-domain-ok': ({ builder }, value) =>
    builder.key('dns.rebinding_allowlist', domainsOf(value), 'rebind-domain-ok'),
  dnssec: ({ builder }) => builder.key('dns.dnssec_enabled', true, 'dnssec'),
  'min-cache-ttl': ({ builder }, value) => addTtl(builder, 'cache.min_ttl_secs', 'min-cache-ttl', value),
  'max-cache-ttl': ({ builder }, value) => addTtl(builder, 'cache.max_ttl_secs', 'max-cache-ttl', value),
  'bogus-nxdomain': addBogus,
  'local-service': ({ builder }, value) =>
    addAllowed(builder, value === 'host' ? OWN_MACHINE : [...OWN_MACHINE, 'connected'], 'local-service'),
};

/** Adds all options; returns the servers, which the caller makes pools of. */
export function mapOptions(parts: OptionParts, options: readonly DnsmasqOption[]): OptionUpstreams {
  const { builder } = parts;
  const told = new Set<string>();
  for (const { name, value } of options) {
    if (Object.hasOwn(ADD, name)) {
      ADD[name]!(parts, value, options);
      continue;
    }
    // Of what is not an option its first word: it may be anything.
    const shown = name === '' ? value.split(/[\s=]/)[0]!.slice(0, 40) : name;
    if (told.has(shown)) continue;
    told.add(shown);
    if (name === '') builder.notMapped('other', shown, 'it is not an option of dnsmasq');
    else if (OF_PROGRAM.test(name)) builder.skipped('other', name, 'it says nothing about answers');
    else if (OF_DHCP.test(name)) builder.notMapped('other', name, 'Weir does not give out addresses');
    else builder.notMapped('other', name, 'Weir has no such option');
  }
  const has = (name: string): boolean => options.some((option) => option.name === name);
  return {
    servers: options.flatMap(({ name, value }) =>
      name === 'server' && !value.startsWith('/') && value !== '' ? [plainServer(value)] : [],
    ),
    strategy: has('all-servers') ? 'Parallel' : has('strict-order') ? 'Failover' : 'Fastest',
  };
}

/** `/a/b/address`: names with all below them. Without an address, or with one that leads nowhere, they are denied. */
function addAddressOption(builder: PlanBuilder, names: OwnNames, value: string): void {
  const { domains, target } = splitDomains(value);
  const address = addressFromText(target) === null ? null : target;
  const isDenied = target === '' || target === '#' || /^(?:0\.0\.0\.0|::)$/.test(target);
  for (const domain of domains) {
    const name = canonicalDomain(domain);
    if (name === null)
      builder.notMapped('local_record', `address=${value}`, 'Weir has no answer for every name');
    else if (isDenied) names.add({ name: `*.${name}`, action: 'deny', groups: null });
    else if (address !== null) addAddressOfAll(builder, name, address);
    else builder.notMapped('local_record', `address=${value}`, 'it is not a name with an address');
  }
}

/** `/a/b/address#port`; without an address the names are answered from what is known here, else with NXDOMAIN. */
function addServerOption({ builder, lists }: OptionParts, value: string): void {
  if (!value.startsWith('/')) return;
  const { domains, target } = splitDomains(value);
  for (const domain of domains) {
    const name = canonicalDomain(domain);
    if (name === null || target === '#')
      builder.notMapped('forward_zone', `server=${value}`, 'Weir has no servers for such names');
    else if (target === '') {
      const item = builder.item(
        'list_rule',
        `local=/${domain}/`,
        'NXDOMAIN for names that are no local records',
      );
      lists.add(`||${name}^$dnsrewrite=NXDOMAIN`, null, item);
    } else addZone(builder, name, target);
  }
}

/** `network,server`; the server may be absent, and the network without its length. */
function addReverse(builder: PlanBuilder, value: string): void {
  const [network = '', server = ''] = value.split(',').map((part) => part.trim());
  if (server === '')
    return builder.notMapped('forward_zone', `rev-server=${value}`, 'Weir answers private addresses itself');
  addZone(
    builder,
    network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`,
    server,
  );
}

function addZone(builder: PlanBuilder, zone: string, written: string): void {
  const read = readUpstream(plainServer(written));
  if (read.server === null) return builder.notMapped('forward_zone', zone, read.reason);
  const item = builder.item('forward_zone', zone, read.remark);
  builder.zone({ zone, servers: [read.server], enabled: true }, item);
}

function addHostsFile(
  { builder, names, linesOf }: OptionParts,
  path: string,
  all: readonly DnsmasqOption[],
): void {
  const lines = linesOf(path);
  if (lines === undefined)
    return builder.notMapped(
      'other',
      `addn-hosts=${path}`,
      'the upload has no such file: add it to the archive',
    );
  const domain = all.find(({ name }) => name === 'domain')?.value.split(',')[0] ?? '';
  const isExpanding = domain !== '' && all.some(({ name }) => name === 'expand-hosts');
  // Systems give the machine's own name an address of the loopback.
  const told = path === '/etc/hosts' ? lines.filter((line) => !/^(?:127\.|::1\s)/.test(line)) : lines;
  for (const line of told) {
    const expanded = isExpanding ? expandedLine(line, domain) : line;
    if (!addHostsLine(builder, names, expanded, null))
      builder.notMapped('local_record', line, 'it is not a line of a hosts file');
  }
}

/** Names of one label, with the domain, too. */
function expandedLine(line: string, domain: string): string {
  const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
  return [
    address,
    ...names.flatMap((name) => (name.includes('.') ? [name] : [name, `${name}.${domain}`])),
  ].join(' ');
}

function addDomain(builder: PlanBuilder, value: string): void {
  const [domain = '', network] = value.split(',');
  if (network !== undefined || domain === '#')
    return builder.notMapped('setting', `domain=${value}`, 'Weir has one local domain');
  builder.setting({ local_domain: domain }, builder.item('setting', `domain=${domain}`));
}

function addTtl(builder: PlanBuilder, key: string, option: string, value: string): void {
  if (/^\d{1,6}$/.test(value)) builder.key(key, Math.min(Number(value), 86_400), option);
  else builder.notMapped('configuration', `${option}=${value}`, 'it is not a number of seconds');
}

function addBogus({ builder, lists }: OptionParts, value: string): void {
  const item = builder.item('list_rule', `bogus-nxdomain=${value}`, 'such answers are blocked');
  lists.add(`bogus-nxdomain=${value}`, null, item);
}

function splitDomains(value: string): { domains: string[]; target: string } {
  const last = value.lastIndexOf('/');
  if (!value.startsWith('/') || last === 0) return { domains: [''], target: value };
  const domains = domainsOf(value.slice(0, last));
  return { domains: domains.length === 0 ? [''] : domains, target: value.slice(last + 1).trim() };
}

/** Of `/a/b/`; a leading dot or star says what is so anyway. */
function domainsOf(value: string): string[] {
  const parts = value.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  return parts.map((part) => part.replace(/^\*?\.+/, ''));
}

/** Without the interface or address that questions leave from. */
function plainServer(written: string): string {
  return written.split('@')[0] ?? '';
}
