/** The text after `npm start`: the addresses of Weir, and what to do next. */
import { isIPv6 } from 'node:net';
import type { LogFields } from '../../../shared/log.ts';
import type { DnsReach, HealthCheck } from '../../../shared/api/system-api.ts';
import { DNS_PORT } from './dns-port-help.ts';
import type { LanAddress } from './lan-addresses.ts';
import { localAddress } from '../../host/local-address.ts';

/** Data that the greeting shows. */
export interface GreetingFacts {
  readonly version: string;
  readonly configFile: string | undefined;
  readonly dataDir: string;
  readonly bindAddresses: readonly string[];
  /** Addresses at which devices in the network reach the node; empty in a container. */
  readonly addresses: readonly LanAddress[];
  readonly dns: DnsReach;
  readonly webPort: number;
  /** Reason why the web server does not listen; null = it listens. */
  readonly webTrouble: string | null;
  readonly isSecure: boolean;
  /** Health check of the setting that determines which clients may send queries. */
  readonly access: HealthCheck;
}

/** The greeting, in several lines. */
export function greeting(facts: GreetingFacts): string {
  const { dns } = facts;
  const [first, ...others] = placesOf(facts);
  const web = webAddress(facts);
  const lines = [
    '',
    `Weir ${facts.version} is running.`,
    '',
    `  Web        ${web}`,
    `  DNS        ${first} port ${String(dns.dns_port)} (UDP and TCP)`,
    ...others.map((address) => `             ${address}`),
    `  Clients    ${facts.access.status === 'ok' ? facts.access.detail : 'see below'}`,
    `  Settings   ${facts.configFile ?? 'defaults (no configuration file found)'}`,
    `  Data       ${facts.dataDir}`,
    '',
  ];
  if (dns.dns_port !== DNS_PORT) lines.push(...otherPort(dns));
  if (facts.webTrouble !== null)
    lines.push(`Warning: the web server is not listening: ${facts.webTrouble}.`, '');
  if (facts.access.status !== 'ok') lines.push(`Warning: ${facts.access.detail}.`, '');
  const test = `dig @${localAddress(facts.bindAddresses)} -p ${String(dns.dns_port)} example.com`;
  lines.push(`Test it:  ${test}`, `Next:     open ${web} and follow the steps there.`, '');
  return lines.join('\n');
}

/** Reason why no device uses Weir yet, and what to do. */
function otherPort(dns: DnsReach): string[] {
  const fact = `Devices cannot use Weir on port ${String(dns.dns_port)}: devices and routers use port ${String(DNS_PORT)}.`;
  if (dns.is_chosen) return [fact, 'The setting server.dns_port chooses this port.', ''];
  if (dns.command !== null)
    return [fact, reasonOf(dns), 'Run this, then start Weir again:', '', `  ${dns.command}`, ''];
  const stop = dns.port_53 === 'taken' ? ' Stop that program.' : '';
  return [fact, `${reasonOf(dns)}${stop} Then start Weir again.`, ''];
}

function reasonOf({ port_53: state, holder }: DnsReach): string {
  const { program = null, pid = null } = holder ?? {};
  if (state === 'not_permitted') return 'Port 53 requires a permission that this user does not have.';
  if (state !== 'taken') return 'Port 53 is free now.';
  if (program !== null)
    return `Port 53 is in use by ${program}${pid === null ? '' : ` (process ${String(pid)})`}.`;
  return "Port 53 is in use by another program. Find it with: sudo ss -lnup 'sport = :53'.";
}

/** The greeting as fields of a log entry, for logs in JSON. */
export function greetingFields(facts: GreetingFacts): LogFields {
  const { addresses, dns, access } = facts;
  return {
    web: webAddress(facts),
    dns_port: dns.dns_port,
    addresses: addresses.map(placeOf),
    clients: access.detail,
    config_file: facts.configFile ?? null,
    data_dir: facts.dataDir,
    ...(dns.dns_port !== DNS_PORT && { port_53: dns.port_53, command: dns.command }),
  };
}

/** The text while no password is set: the code of `setup-code.ts` and its file. */
export function setupNotice(code: string, path: string, command: string): string {
  return [
    '',
    'No password is set yet. The web page asks for this code:',
    '',
    `  Setup code ${code}   (also in ${path} until it is used)`,
    '',
    `Or set the password here: ${command} set-password`,
    '',
    '',
  ].join('\n');
}

function webAddress(facts: GreetingFacts): string {
  return `${facts.isSecure ? 'https' : 'http'}://${inUrl(placesOf(facts)[0])}:${String(facts.webPort)}/`;
}

/** Addresses of Weir, the best first; if Weir listens on no others, an address that only this machine can reach. */
function placesOf({ addresses, bindAddresses }: GreetingFacts): [string, ...string[]] {
  const [first = localAddress(bindAddresses), ...others] = addresses.map(placeOf);
  return [first, ...others];
}

/** Link-local addresses need the name of the link. */
function placeOf({ address, kind, interface: name }: LanAddress): string {
  return kind === 'link_local' ? `${address}%${name}` : address;
}

function inUrl(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}
