/** Evaluates responses of `GET /system/reachability` for the steps on the page. Pure functions. */
import type { AnswerOf } from '../../../../shared/api/client/typed-client.ts';

export type Reach = AnswerOf<'GET /system/reachability'>;

/** Parts of this page's URL. */
export interface OpenedAt {
  readonly protocol: string;
  /** Host as in a URL, with brackets around an IPv6 address. */
  readonly hostname: string;
  readonly port: string;
}

/** Addresses for users to enter in routers and devices. */
export interface EnteredAddresses {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  /**
   * Link-local addresses with their interface. Some devices refuse link-local addresses, so these are only for routers
   * that accept no other IPv6 address.
   */
  readonly linkLocal: readonly string[];
}

const NONE: EnteredAddresses = { ipv4: [], ipv6: [], linkLocal: [] };

/**
 * Addresses to enter in the router. In a container, this is the host of the page's URL if it is an address of the
 * network.
 */
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

/** Reason why the router must not be changed yet; null if it may be changed. `wantsLists`: blocklists are enabled. */
export function routerObstacle(
  reach: Reach,
  at: OpenedAt,
  wantsLists: boolean,
): 'port' | 'address' | 'names' | null {
  if (reach.dns.port_53 !== 'weir') return 'port';
  const { ipv4, ipv6 } = enteredAddresses(reach, at);
  // A container is reached by the address of its host, which Weir cannot know.
  if (ipv4.length + ipv6.length === 0 && !reach.is_container) return 'address';
  return wantsLists && reach.names_active === 0 ? 'names' : null;
}

/** Origin of this dashboard's URL for other devices; null if no address is known. */
export function originForOthers(reach: Reach, at: OpenedAt): string | null {
  const port = at.port === '' ? '' : `:${at.port}`;
  if (!isOwnName(at.hostname)) return `${at.protocol}//${at.hostname}${port}`;
  const [first] = enteredAddresses(reach, at).ipv4;
  return first === undefined ? null : `${at.protocol}//${first}${port}`;
}

/** Whether a host name means the machine itself, so that no other device can open it. */
export function isOwnName(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
