/** The settings of Pi-hole that are no tables: its TOML of version 6, `setupVars.conf` and others of version 5. */
import type { ConfigFault } from '../../../config/config-fault.ts';
import { indexLines } from '../../../config/line-index.ts';
import { parseToml } from '../../../config/parse-toml.ts';
import { linesOf, textOf } from '../files/file-text.ts';
import { type FileSet, fileAt } from '../files/file-set.ts';
import { ImportFault } from '../files/import-fault.ts';
import type { PiholeKeys } from './pihole-settings.ts';

const MAX_TOML_LENGTH = 1_000_000;

/** The keys of the TOML file. */
export function readToml(content: Buffer): { keys: PiholeKeys; databases: { gravity: string; ftl: string } } {
  const toml = textOf(content);
  if (toml.length > MAX_TOML_LENGTH) throw new ImportFault('pihole.toml is too large');
  const faults: ConfigFault[] = [];
  const tree = parseToml('pihole.toml', toml, indexLines(toml), faults);
  if (faults[0] !== undefined)
    throw new ImportFault(`pihole.toml, line ${faults[0].line ?? '?'}: ${faults[0].message}`);
  const at = (path: string): unknown => path.split('.').reduce<unknown>(memberOf, tree);
  // Before version 6.3 `dns.domain` was the name itself.
  const domain = at('dns.domain');
  const special = at('dns.specialDomains');
  const keys: PiholeKeys = {
    upstreams: texts(at('dns.upstreams')),
    hosts: texts(at('dns.hosts')),
    cnames: texts(at('dns.cnameRecords')),
    revServers: texts(at('dns.revServers')),
    localDomain: text(typeof domain === 'string' ? domain : at('dns.domain.name')),
    domainNeeded: flag(at('dns.domainNeeded')),
    bogusPriv: flag(at('dns.bogusPriv')),
    dnssec: flag(at('dns.dnssec')),
    blockingActive: flag(at('dns.blocking.active')),
    blockingMode: text(at('dns.blocking.mode')),
    blockTtl: number(at('dns.blockTTL')),
    rateLimit: rateLimit(number(at('dns.rateLimit.count')), number(at('dns.rateLimit.interval'))),
    specialDomains: isTree(special)
      ? Object.fromEntries(Object.entries(special).map(([name, value]) => [name, value === true]))
      : undefined,
    dhcpHosts: texts(at('dhcp.hosts')),
    dhcpActive: flag(at('dhcp.active')),
    dnsmasqLines: texts(at('misc.dnsmasq_lines')),
    readsDnsmasqFolder: flag(at('misc.etc_dnsmasq_d')),
  };
  const databases = {
    gravity: text(at('files.gravity')) ?? '/etc/pihole/gravity.db',
    ftl: text(at('files.database')) ?? '/etc/pihole/pihole-FTL.db',
  };
  return { keys, databases };
}

/** The keys of version 5, of several files. */
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
    rateLimit: rateLimit(number(count), number(interval)),
    dhcpHosts: contentLines(fileAt(files, '04-pihole-static-dhcp.conf'))
      .filter((line) => line.startsWith('dhcp-host='))
      .map((line) => line.slice('dhcp-host='.length)),
    dhcpActive: yes(vars.get('DHCP_ACTIVE')),
    readsDnsmasqFolder: true,
  };
}

/** Lines that say something. */
export function contentLines(content: Buffer | undefined): string[] {
  const lines = content === undefined ? [] : linesOf(content);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

function assignments(content: Buffer | undefined): Map<string, string> {
  const pairs = contentLines(content).map((line) => /^([A-Z0-9_]+)=(.*)$/.exec(line));
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1]!, pair[2]!.trim()]])));
}

function rateLimit(count: number | undefined, interval: number | undefined): PiholeKeys['rateLimit'] {
  return count === undefined || interval === undefined ? undefined : { count, interval };
}

function memberOf(tree: unknown, name: string): unknown {
  return isTree(tree) && Object.hasOwn(tree, name) ? tree[name] : undefined;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
