/** The settings of Pi-hole outside its tables: the TOML of version 6, `setupVars.conf` and other files of version 5. */
import type { ConfigFault } from '../../../../config/config-fault.ts';
import { indexLines } from '../../../../config/line-index.ts';
import { parseToml } from '../../../../config/parse-toml.ts';
import { contentLines, decodeText } from '../files/decode-text.ts';
import { type FileSet, fileAt } from '../files/file-set.ts';
import { ForeignTree } from '../files/foreign-tree.ts';
import { importFault } from '../files/import-fault.ts';
import { exactly } from './map-exclusions.ts';
import type { PiholeKeys } from './pihole-settings.ts';

const MAX_TOML_LENGTH = 1_000_000;

/** The keys of the TOML file. */
export function readToml(content: Buffer): { keys: PiholeKeys; databases: { gravity: string; ftl: string } } {
  const toml = decodeText(content);
  if (toml.length > MAX_TOML_LENGTH) throw importFault('file_large', { file: 'pihole.toml' });
  const faults: ConfigFault[] = [];
  const tree = parseToml('pihole.toml', toml, indexLines(toml), faults);
  if (faults[0] !== undefined)
    throw importFault('file_line', {
      file: 'pihole.toml',
      line: faults[0].line ?? '?',
      reason: faults[0].message,
    });
  const file = new ForeignTree(tree);
  const special = file.at('dns.specialDomains').members();
  const keys: PiholeKeys = {
    upstreams: file.texts('dns.upstreams'),
    hosts: file.texts('dns.hosts'),
    cnames: file.texts('dns.cnameRecords'),
    revServers: file.texts('dns.revServers'),
    // Before version 6.3 `dns.domain` was the name itself.
    localDomain: file.text('dns.domain') ?? file.text('dns.domain.name'),
    // Before this switch existed, version 6 never forwarded the local domain.
    isDomainLocal: file.flag('dns.domain.local') ?? (file.has('dns.domain') ? true : undefined),
    expandHosts: file.flag('dns.expandHosts'),
    hostRecord: file.text('dns.hostRecord'),
    domainNeeded: file.flag('dns.domainNeeded'),
    bogusPriv: file.flag('dns.bogusPriv'),
    dnssec: file.flag('dns.dnssec'),
    blockingActive: file.flag('dns.blocking.active'),
    blockingMode: file.text('dns.blocking.mode'),
    blockTtl: file.count('dns.blockTTL'),
    blockingIpv4: forced(file, 'force4', 'IPv4'),
    blockingIpv6: forced(file, 'force6', 'IPv6'),
    privacyLevel: file.count('misc.privacylevel'),
    logDays: file.count('database.maxDBdays'),
    staleSecs: integer(file.at('dns.cache.optimizer').raw),
    ignoresLocalhost: file.flag('dns.ignoreLocalhost'),
    excludedDomains: file.texts('webserver.api.excludeDomains'),
    excludedClients: file.texts('webserver.api.excludeClients'),
    rateLimit: rateLimit(file.count('dns.rateLimit.count'), file.count('dns.rateLimit.interval')),
    specialDomains: Object.fromEntries(special.map(([name, value]) => [name, value.flag() === true])),
    dhcpHosts: file.texts('dhcp.hosts'),
    dhcpActive: file.flag('dhcp.active'),
    listeningMode: file.text('dns.listeningMode'),
    networkInterface: file.text('dns.interface'),
    dnsmasqLines: file.texts('misc.dnsmasq_lines'),
    readsDnsmasqFolder: file.flag('misc.etc_dnsmasq_d'),
    others: new Map(leavesOf(file, '')),
  };
  const databases = {
    gravity: file.text('files.gravity') ?? '/etc/pihole/gravity.db',
    ftl: file.text('files.database') ?? '/etc/pihole/pihole-FTL.db',
  };
  return { keys, databases };
}

/** The keys of version 5, from several files. */
export function readVersion5(files: FileSet): PiholeKeys {
  const vars = assignments(fileAt(files, 'setupVars.conf'));
  const ftl = assignments(fileAt(files, 'pihole-FTL.conf'));
  const yes = (value: string | undefined): boolean | undefined =>
    value === undefined ? undefined : value === 'true';
  const [count, interval] = (ftl.get('RATE_LIMIT') ?? '').split('/').map(Number);
  const server = vars.get('REV_SERVER_TARGET') ?? '';
  const isForwarding = vars.get('REV_SERVER') === 'true' && server !== '';
  const domain = vars.get('REV_SERVER_DOMAIN') ?? '';
  return {
    upstreams: [...vars].filter(([name]) => /^PIHOLE_DNS_\d+$/.test(name)).map(([, value]) => value),
    hosts: contentLines(fileAt(files, 'custom.list')),
    cnames: contentLines(fileAt(files, '05-pihole-custom-cname.conf'))
      .filter((line) => line.startsWith('cname='))
      .map((line) => line.slice('cname='.length)),
    revServers: isForwarding ? [`true,${vars.get('REV_SERVER_CIDR') ?? ''},${server},${domain}`] : [],
    localDomain: vars.get('PIHOLE_DOMAIN'),
    domainNeeded: yes(vars.get('DNS_FQDN_REQUIRED')),
    bogusPriv: yes(vars.get('DNS_BOGUS_PRIV')),
    dnssec: yes(vars.get('DNSSEC')),
    blockingActive: yes(vars.get('BLOCKING_ENABLED')),
    blockingMode: ftl.get('BLOCKINGMODE'),
    blockTtl: number(Number(ftl.get('BLOCK_TTL') ?? NaN)),
    blockingIpv4: ftl.get('BLOCK_IPV4') ?? ftl.get('REPLY_ADDR4'),
    blockingIpv6: ftl.get('BLOCK_IPV6') ?? ftl.get('REPLY_ADDR6'),
    privacyLevel: number(Number(ftl.get('PRIVACYLEVEL') ?? NaN)),
    logDays: number(Number(ftl.get('MAXDBDAYS') ?? NaN)),
    ignoresLocalhost: yes(ftl.get('IGNORE_LOCALHOST')?.replace('yes', 'true')),
    excludedDomains: partsOf(vars.get('API_EXCLUDE_DOMAINS'))?.map(exactly),
    excludedClients: partsOf(vars.get('API_EXCLUDE_CLIENTS'))?.map(exactly),
    specialDomains: specialDomains(ftl),
    rateLimit: rateLimit(number(count), number(interval)),
    dhcpHosts: contentLines(fileAt(files, '04-pihole-static-dhcp.conf'))
      .filter((line) => line.startsWith('dhcp-host='))
      .map((line) => line.slice('dhcp-host='.length)),
    dhcpActive: yes(vars.get('DHCP_ACTIVE')),
    listeningMode: vars.get('DNSMASQ_LISTENING'),
    networkInterface: vars.get('PIHOLE_INTERFACE'),
    readsDnsmasqFolder: true,
  };
}

/** An address for blocked queries, if enabled by its switch. */
function forced(file: ForeignTree, switchName: string, name: string): string | undefined {
  return file.flag(`dns.reply.blocking.${switchName}`) === true
    ? file.text(`dns.reply.blocking.${name}`)
    : undefined;
}

/** Values other than tables, by path. */
function leavesOf(tree: ForeignTree, path: string): [string, unknown][] {
  return tree.members().flatMap(([name, value]): [string, unknown][] => {
    const at = path === '' ? name : `${path}.${name}`;
    return value.members().length > 0 ? leavesOf(value, at) : [[at, value.raw]];
  });
}

function partsOf(list: string | undefined): string[] | undefined {
  return list
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function specialDomains(ftl: ReadonlyMap<string, string>): Record<string, boolean> {
  const switches = { mozillaCanary: 'MOZILLA_CANARY', iCloudPrivateRelay: 'BLOCK_ICLOUD_PR' };
  const given = Object.entries(switches).filter(([, name]) => ftl.has(name));
  return Object.fromEntries(given.map(([key, name]) => [key, !/^(?:false|no)$/.test(ftl.get(name)!)]));
}

function integer(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function assignments(content: Buffer | undefined): Map<string, string> {
  const pairs = contentLines(content).map((line) => /^([A-Z0-9_]+)=(.*)$/.exec(line));
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1]!, pair[2]!.trim()]])));
}

function rateLimit(count: number | undefined, interval: number | undefined): PiholeKeys['rateLimit'] {
  return count === undefined || interval === undefined ? undefined : { count, interval };
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
