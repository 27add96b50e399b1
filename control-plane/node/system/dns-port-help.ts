/**
 * Determines whether devices can use this node, which requires port 53 because routers and devices use no other, and
 * which command makes the port available.
 */
import type { LoadedConfig } from '../../../config/parse-config.ts';
import type { DnsReach } from '../../../shared/api/system-api.ts';
import { portState } from '../../threads/dns-port.ts';
import { holderOfPort, UNKNOWN_HOLDER } from './port-holder.ts';
import type { PortHolder } from './port-holder.ts';

/** The port of DNS (RFC 1035, section 4.2). */
export const DNS_PORT = 53;

export interface DnsPortParts {
  /** `server.bind_address`. */
  readonly addresses: readonly string[];
  /** The port on which DNS is answered. */
  readonly dnsPort: number;
  /** Whether `server.dns_port` is explicitly set to this port. */
  readonly isChosen: boolean;
  /** Whether Weir is a systemd service. */
  readonly isService: boolean;
}

/** Addresses and port on which a node with this configuration listens. */
export function listeningOf({ config, explicit }: LoadedConfig, dnsPort: number): DnsPortParts {
  return {
    addresses: config.server.bind_address,
    dnsPort,
    isChosen: explicit.has('server.dns_port'),
    // INVOCATION_ID is not checked, because desktop terminals also have it.
    isService: (process.env['NOTIFY_SOCKET'] ?? '') !== '',
  };
}

/** The current state of port 53. */
export async function dnsReach({ addresses, dnsPort, isChosen, isService }: DnsPortParts): Promise<DnsReach> {
  const base = { dns_port: dnsPort, is_chosen: isChosen && dnsPort !== DNS_PORT };
  if (dnsPort === DNS_PORT) return { ...base, port_53: 'weir', holder: null, command: null };
  const tried = await portState(addresses, DNS_PORT);
  // A missing permission is found first, so the port may also be in use, which the kernel has not checked yet.
  const found = tried === 'free' ? null : holderOfPort(DNS_PORT);
  const held = tried === 'taken' ? (found ?? UNKNOWN_HOLDER) : found;
  const command = base.is_chosen ? null : commandFor(tried, held, isService);
  const holder = held && { program: held.program, pid: held.pid };
  return { ...base, port_53: held === null ? tried : 'taken', holder, command };
}

const RESTART = 'sudo systemctl restart weir';
const PERMIT =
  "echo 'net.ipv4.ip_unprivileged_port_start=53' | sudo tee /etc/sysctl.d/50-weir.conf && sudo sysctl -p /etc/sysctl.d/50-weir.conf";

/**
 * One command line that makes the port available to Weir and, if Weir is a service, restarts Weir. Null if no command
 * is needed, or if Weir does not know how to stop the program that uses the port.
 */
export function commandFor(
  state: 'free' | 'taken' | 'not_permitted',
  holder: PortHolder | null,
  isService: boolean,
): string | null {
  const release = holder === null ? '' : releaseOf(holder);
  if (release === null) return null;
  const permit = state === 'not_permitted' ? PERMIT : '';
  const steps = [permit, release, isService ? RESTART : ''].filter((step) => step !== '');
  return steps.length === 0 ? null : steps.join(' && ');
}

/** Command that stops the program; null if Weir does not know how. */
function releaseOf({ program, unit }: PortHolder): string | null {
  if (program === 'systemd-resolve')
    // Writes a separate file, because an upgrade of systemd would replace the file of its package. Changes
    // /etc/resolv.conf, because it refers to the stub listener, which is disabled.
    return "sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nDNSStubListener=no\\n' | sudo tee /etc/systemd/resolved.conf.d/weir.conf && sudo ln -sf /run/systemd/resolve/resolv.conf /etc/resolv.conf && sudo systemctl restart systemd-resolved";
  // A dnsmasq that libvirt, LXD or NetworkManager has started runs in the unit of that service, which must not be
  // stopped.
  const isOwnUnit = unit !== null && SERVICES[program ?? ''] === unit;
  return isOwnUnit ? `sudo systemctl disable --now ${unit}` : null;
}

/** Units that only run a DNS server, by its program. */
const SERVICES: Readonly<Record<string, string>> = {
  dnsmasq: 'dnsmasq.service',
  named: 'named.service',
  unbound: 'unbound.service',
  'pihole-FTL': 'pihole-FTL.service',
  AdGuardHome: 'AdGuardHome.service',
  connmand: 'connman.service',
  dnsdist: 'dnsdist.service',
  stubby: 'stubby.service',
};
