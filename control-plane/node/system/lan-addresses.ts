/** The addresses at which devices in the home network reach this machine. */
import { networkInterfaces } from 'node:os';
import type { NetworkInterfaceInfo } from 'node:os';
import { defaultRoute4 } from '../../host/default-gateway.ts';

/** Kinds of permanent addresses. Addresses that a provider assigns are left out, because they change. */
export type LanAddressKind = 'ipv4' | 'ula' | 'link_local';

/** An address in the form that users enter; a `link_local` address is only valid on its own link. */
export interface LanAddress {
  readonly address: string;
  readonly kind: LanAddressKind;
  readonly interface: string;
}

/** Interfaces of containers, virtual machines and tunnels, which do not lead to devices of the home network. */
const NOT_ON_LAN =
  /^(?:lo|docker|br-|veth|virbr|vnet|vmnet|cni|flannel|cali|podman|lxc|lxdbr|tun|tap|wg|tailscale|zt|ppp|sit|dummy)/;

const RANKS: Readonly<Record<LanAddressKind, number>> = { ipv4: 0, ula: 1, link_local: 2 };

/**
 * The addresses on which the node listens (`server.bind_address`): IPv4 first, and addresses of the interface with the
 * default route before others.
 */
export function lanAddresses(
  listening: readonly string[],
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
  mainInterface = defaultRoute4().name,
): LanAddress[] {
  const found = Object.entries(interfaces).flatMap(([name, infos = []]) =>
    NOT_ON_LAN.test(name) ? [] : infos.flatMap((info) => lanAddress(name, info)),
  );
  const isListeningTo = ({ address, kind }: LanAddress): boolean =>
    listening.includes(address) ||
    listening.includes('::') ||
    (kind === 'ipv4' && listening.includes('0.0.0.0'));
  const rank = (one: LanAddress): number => RANKS[one.kind] * 2 + (one.interface === mainInterface ? 0 : 1);
  return found.filter(isListeningTo).sort((a, b) => rank(a) - rank(b));
}

function lanAddress(name: string, { address, family, internal }: NetworkInterfaceInfo): LanAddress[] {
  if (internal) return [];
  const kind = family === 'IPv4' ? kindOf4(address) : kindOf6(address);
  return kind === null ? [] : [{ address, kind, interface: name }];
}

function kindOf4(address: string): LanAddressKind | null {
  return /^(?:127|169\.254|0)\./.test(address) ? null : 'ipv4';
}

function kindOf6(address: string): LanAddressKind | null {
  if (/^f[cd][0-9a-f]{2}:/.test(address)) return 'ula';
  return /^fe[89ab][0-9a-f]:/.test(address) ? 'link_local' : null;
}

/**
 * Whether Weir runs in a container, whose addresses differ from those of the machine. Weir's image and Podman set the
 * variable `container`; a container that shares the network of its machine must unset it.
 */
export function isInContainer(env: NodeJS.ProcessEnv = process.env): boolean {
  return (env['container'] ?? '') !== '';
}
