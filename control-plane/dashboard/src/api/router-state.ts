/** Evaluates the answers of `GET /system/reachability` for the steps of the page. Pure. */
import type { AnswerOf } from '../../../../shared/api/client/typed-client.ts';

export type Reach = AnswerOf<'GET /system/reachability'>;

/** URL parts of this page. */
export interface OpenedAt {
  readonly protocol: string;
  /** Host as in a URL: an IPv6 address is in brackets. */
  readonly hostname: string;
  readonly port: string;
}

/** The addresses that people enter in routers and devices. */
export interface EnteredAddresses {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  /** With their interface. Some devices refuse them, so they are only for routers that take nothing else. */
  readonly linkLocal: readonly string[];
}

const NONE: EnteredAddresses = { ipv4: [], ipv6: [], linkLocal: [] };

/** Addresses to enter in the router. In a container: the page's own address, if it is an address of the network. */
export function enteredAddresses(
  { addresses, is_container: isContainer }: Reach,
  at: OpenedAt,
): EnteredAddresses {
  if (!isContainer) {
    return {
      ipv4: addresses.filter(({ kind }) => kind === 'ipv4').map(({ address }) => address),
      ipv6: addresses.filter(({ kind }) => kind === 'ula').map(({ address }) => address),
      linkLocal: addresses
        .filter(({ kind }) => kind === 'link_local')
        .map(({ address, interface: name }) => `${address} (${name})`),
    };
  }
  const host = at.hostname.replace(/^\[|\]$/g, '');
  if (isOwnName(at.hostname)) return NONE;
  if (host.includes(':')) return { ...NONE, ipv6: [host] };
  return { ...NONE, ipv4: /^[\d.]+$/.test(host) ? [host] : [] };
}

/** Reason why the router must not be changed yet; null if it may be. `wantsLists`: block lists are enabled. */
export function routerObstacle(
  reach: Reach,
  at: OpenedAt,
  wantsLists: boolean,
): 'port' | 'address' | 'names' | null {
  if (reach.dns.port_53 !== 'weir') return 'port';
  const { ipv4, ipv6 } = enteredAddresses(reach, at);
  // A container is reached by the address of its machine, which only people know.
  if (ipv4.length + ipv6.length === 0 && !reach.is_container) return 'address';
  return wantsLists && reach.names_active === 0 ? 'names' : null;
}

/** The start of this dashboard's address for another device; null if no address is known. */
export function originForOthers(reach: Reach, at: OpenedAt): string | null {
  const port = at.port === '' ? '' : `:${at.port}`;
  if (!isOwnName(at.hostname)) return `${at.protocol}//${at.hostname}${port}`;
  const [first] = enteredAddresses(reach, at).ipv4;
  return first === undefined ? null : `${at.protocol}//${first}${port}`;
}

/** A name that means the machine itself: no other device can open it. */
export function isOwnName(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
