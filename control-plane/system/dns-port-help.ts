/**
 * Whether devices can ask this node, and the one command that makes it so: routers and devices ask port 53 and no other.
 */
import type { LoadedConfig } from '../../config/parse-config.ts';
import type { DnsReach } from '../../shared/api/system-api.ts';
import { portState } from '../workers/dns-port.ts';
import { holderOfPort } from './port-holder.ts';
import type { PortHolder } from './port-holder.ts';

/** The port of DNS (RFC 1035, section 4.2). */
export const DNS_PORT = 53;

/** What it needs. */
export interface DnsPortParts {
  /** `server.bind_address`. */
  readonly addresses: readonly string[];
  /** The port that DNS is answered on. */
  readonly dnsPort: number;
  /** `server.dns_port` is set to this port on purpose. */
  readonly isChosen: boolean;
  /** Weir is a service of systemd. */
  readonly isService: boolean;
}

/** Of a node that runs with this configuration. */
export function listeningOf({ config, explicit }: LoadedConfig, dnsPort: number): DnsPortParts {
  return {
    addresses: config.server.bind_address,
    dnsPort,
    isChosen: explicit.has('server.dns_port'),
    isService: process.env['INVOCATION_ID'] !== undefined,
  };
}

/** The state of port 53 now. */
export async function dnsReach({ addresses, dnsPort, isChosen, isService }: DnsPortParts): Promise<DnsReach> {
  const base = { dns_port: dnsPort, is_chosen: isChosen && dnsPort !== DNS_PORT };
  if (dnsPort === DNS_PORT) return { ...base, port_53: 'weir', holder: null, command: null };
  const state = await portState(addresses, DNS_PORT);
  const holder = state === 'taken' ? (holderOfPort(DNS_PORT) ?? { program: null, pid: null }) : null;
  const command = base.is_chosen ? null : withRestart(commandFor(state, holder), isService);
  return { ...base, port_53: state, holder, command };
}

/** What frees the port for Weir; null if nothing has to be freed, or if the program is not known. */
export function commandFor(
  state: 'free' | 'taken' | 'not_permitted',
  holder: PortHolder | null,
): string | null {
  if (state === 'free') return null;
  if (state === 'not_permitted')
    return "echo 'net.ipv4.ip_unprivileged_port_start=53' | sudo tee /etc/sysctl.d/50-weir.conf && sudo sysctl -p /etc/sysctl.d/50-weir.conf";
  switch (holder?.program) {
    case 'systemd-resolve':
      // Its own file would be replaced by an upgrade; /etc/resolv.conf names the stub listener that goes.
      return "sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nDNSStubListener=no\\n' | sudo tee /etc/systemd/resolved.conf.d/weir.conf && sudo ln -sf /run/systemd/resolve/resolv.conf /etc/resolv.conf && sudo systemctl restart systemd-resolved";
    case 'dnsmasq':
    case 'named':
    case 'unbound':
    case 'pihole-FTL':
    case 'AdGuardHome':
    case 'connmand':
    case 'dnsdist':
    case 'stubby':
      return `sudo systemctl disable --now ${SERVICES[holder.program] ?? holder.program}`;
    default:
      return null;
  }
}

/** Services that have another name than their program. */
const SERVICES: Readonly<Record<string, string>> = { connmand: 'connman' };

/** A node takes the port at its start. */
function withRestart(command: string | null, isService: boolean): string | null {
  if (!isService) return command;
  const restart = 'sudo systemctl restart weir';
  return command === null ? restart : `${command} && ${restart}`;
}
