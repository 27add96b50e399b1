/**
 * Which clients may send queries: networks, words that stand for networks, and clients that are never admitted (RFC
 * 5358 advises against answering everyone). Pure functions; `control-plane/clients/access/` determines the networks of
 * this machine, `dns-worker/stages/client-access.ts` refuses clients.
 */
import { canonicalClientKey } from '../dns/client-key.ts';
import { isIpv4Network, networkContains, networkFromText, networkToText } from '../net/cidr.ts';
import type { Network } from '../net/cidr.ts';
import { isMappedIpv4 } from '../net/ip.ts';
import { canonicalMac } from '../net/mac.ts';

/** Words that stand for networks. */
export const ACCESS_WORDS = ['private', 'connected', 'any'] as const;

/** Identity of a client in `dns.blocked_clients`; its value is in canonical form. */
export type BlockedClient =
  | { readonly kind: 'network'; readonly network: Network }
  | { readonly kind: 'mac'; readonly mac: string }
  | { readonly kind: 'key'; readonly key: string };

/** Which clients may send queries. */
export interface Access {
  readonly allowed: readonly Network[];
  /**
   * Networks that are never admitted, regardless of all other settings; includes the known addresses of `blockedMacs`.
   */
  readonly blocked: readonly Network[];
  readonly blockedMacs: readonly string[];
  readonly blockedKeys: readonly string[];
}

/** Minimum number of random bits of a key that admits its client from everywhere. */
const MIN_KEY_BITS = 64;
/** Kinds of keys, and the number of possible characters in each; a key with hyphens is probably a name, not random. */
const KEY_ALPHABETS = [
  [/^\d*$/, 10],
  [/^[\da-f]*$/, 16],
  [/^[a-z]*$/, 26],
  [/^/, 36],
] as const;

const LOOPBACK = networks('127.0.0.0/8', '::1');
/** Private networks: RFC 1918, RFC 6598, RFC 3927, RFC 4193, RFC 4291 (link-local). */
const PRIVATE = [
  ...LOOPBACK,
  ...networks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'),
  ...networks('fe80::/10', 'fc00::/7'),
];
const ANY = networks('0.0.0.0/0', '::/0');

/** Every client may send queries. */
export const EVERYONE: Access = { allowed: ANY, blocked: [], blockedMacs: [], blockedKeys: [] };

/** True for a word or a network of `dns.allowed_clients`. */
export function isAllowedClient(text: string): boolean {
  return (ACCESS_WORDS as readonly string[]).includes(text) || networkFromText(text) !== null;
}

/**
 * Client of an entry of `dns.blocked_clients`; null if it is invalid. Six pairs of digits with colons or hyphens are a
 * MAC.
 */
export function blockedClientOf(text: string): BlockedClient | null {
  const network = networkFromText(text);
  if (network !== null) return { kind: 'network', network };
  const mac = /[:-]/.test(text) ? canonicalMac(text) : null;
  if (mac !== null) return { kind: 'mac', mac };
  const key = canonicalClientKey(text);
  return key === null ? null : { kind: 'key', key };
}

/** A copy of `access` with these addresses also blocked. */
export function withBlockedAddresses(access: Access, addresses: readonly string[]): Access {
  if (addresses.length === 0) return access;
  return { ...access, blocked: [...access.blocked, ...networks(...addresses)] };
}

/**
 * Which clients may send queries with these settings, on a machine with these networks. The machine itself may always
 * send queries unless it is in `blocked`, because it may need this DNS server to find the web servers of the lists.
 */
export function accessOf(
  allowed: readonly string[],
  blocked: readonly string[],
  connected: readonly Network[],
): Access {
  const clients = blocked.flatMap((text) => blockedClientOf(text) ?? []);
  return {
    allowed: [...LOOPBACK, ...allowed.flatMap((text) => networksOf(text, connected))],
    blocked: clients.flatMap((client) => (client.kind === 'network' ? client.network : [])),
    blockedMacs: clients.flatMap((client) => (client.kind === 'mac' ? client.mac : [])),
    blockedKeys: clients.flatMap((client) => (client.kind === 'key' ? client.key : [])),
  };
}

/** Whether a client may send queries, by its 16-byte address alone. */
export function admitsAddress({ allowed, blocked }: Access, address: Uint8Array): boolean {
  const isIpv4 = isMappedIpv4(address);
  const isIn = (network: Network): boolean =>
    isIpv4Network(network) === isIpv4 && networkContains(network, address);
  return allowed.some(isIn) && !blocked.some(isIn);
}

/**
 * Whether a key in canonical form may have enough random bits to admit its client from everywhere; a key that is a name
 * has fewer random bits.
 */
export function admitsKey(key: string): boolean {
  const characters = key.replaceAll('-', '');
  const [, alphabet] = KEY_ALPHABETS.find(([kind]) => kind.test(characters))!;
  return characters.length * Math.log2(alphabet) >= MIN_KEY_BITS;
}

/** Whether two settings of access are equal. */
export function isSameAccess(a: Access, b: Access): boolean {
  return a === b || accessKey(a) === accessKey(b);
}

function accessKey({ allowed, blocked, blockedMacs, blockedKeys }: Access): string {
  return JSON.stringify([allowed.map(networkToText), blocked.map(networkToText), blockedMacs, blockedKeys]);
}

function networksOf(text: string, connected: readonly Network[]): readonly Network[] {
  switch (text) {
    case 'private':
      return PRIVATE;
    case 'connected':
      return connected;
    case 'any':
      return ANY;
    default: {
      const network = networkFromText(text);
      return network === null ? [] : [network];
    }
  }
}

function networks(...texts: readonly string[]): readonly Network[] {
  return texts.flatMap((text) => networkFromText(text) ?? []);
}
