/** The text after `npm start`: where Weir listens, and what to do next. */
import { isIPv6 } from 'node:net';
import type { HealthCheck } from '../../shared/api/system-api.ts';
import type { ChosenPort } from '../workers/dns-port.ts';
import { localAddress } from './local-address.ts';

/** What the greeting tells. */
export interface GreetingFacts {
  readonly version: string;
  readonly configFile: string | undefined;
  readonly dataDir: string;
  readonly bindAddresses: readonly string[];
  readonly dnsPort: ChosenPort;
  readonly webPort: number;
  /** Why the web server does not listen; null = it does. */
  readonly webTrouble: string | null;
  readonly isSecure: boolean;
  /** Who may ask. */
  readonly access: HealthCheck;
  /** How its commands are called here. */
  readonly command: string;
}

/** The greeting, several lines. */
export function greeting(facts: GreetingFacts): string {
  const { dnsPort } = facts;
  const where = facts.bindAddresses.map((address) => endpoint(address, dnsPort.port)).join(', ');
  const lines = [
    '',
    `Weir ${facts.version} answers.`,
    '',
    `  DNS        ${where} (UDP and TCP)`,
    `  Web        ${facts.isSecure ? 'https' : 'http'}://${reachable(facts.bindAddresses)}:${String(facts.webPort)}/`,
    `  Clients    ${facts.access.status === 'ok' ? facts.access.detail : 'see below'}`,
    `  Settings   ${facts.configFile ?? 'defaults (no configuration file was found)'}`,
    `  Data       ${facts.dataDir}`,
    '',
  ];
  if (dnsPort.notice !== null)
    lines.push(`Port ${String(dnsPort.port)} instead of 53: ${dnsPort.notice}`, '');
  if (facts.webTrouble !== null)
    lines.push(`Warning: the web server does not listen: ${facts.webTrouble}.`, '');
  if (facts.access.status !== 'ok') lines.push(`Warning: ${facts.access.detail}.`, '');
  lines.push(
    'Next:',
    `  1. Try it:          dig @${reachable(facts.bindAddresses)} -p ${String(dnsPort.port)} example.com`,
    `  2. Set a password:  open the web page, or run: ${facts.command} set-password`,
    '  3. Point your router or your devices at this machine as their DNS server.',
    '',
  );
  return lines.join('\n');
}

/** The text while no password is set: the code of `setup-code.ts` and its file. */
export function setupNotice(code: string, path: string): string {
  return [
    '',
    'No password is set. To set it from another machine, use this code:',
    '',
    `  Setup code ${code}   (kept in ${path} until it is used)`,
    '',
    '',
  ].join('\n');
}

function endpoint(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${String(port)}` : `${address}:${String(port)}`;
}

/** An address that works on this machine, as it stands in a URL. */
function reachable(addresses: readonly string[]): string {
  const address = localAddress(addresses);
  return isIPv6(address) ? `[${address}]` : address;
}
