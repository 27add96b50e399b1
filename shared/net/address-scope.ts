/**
 * Classifies addresses for connections to a host from external text: the public internet, the local network, or
 * destinations that are never allowed.
 */
import type { Network } from './cidr.ts';
import { networkFromText } from './cidr.ts';
import { ADDRESS_SIZE, addressFromText, isMappedIpv4 } from './ip.ts';

export type AddressScope = 'public' | 'local' | 'forbidden';

/**
 * Link-local addresses, cloud metadata services, and addresses that do not belong to one host: "this network" (RFC
 * 1122; on Linux, 0.0.0.0 reaches the machine itself), multicast, reserved.
 */
const FORBIDDEN = networks(
  '0.0.0.0/8',
  '169.254.0.0/16',
  '100.100.100.200/32', // Alibaba's metadata service
  '168.63.129.16/32', // Azure's
  '192.0.0.0/24', // RFC 6890; contains Oracle's
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fe80::/10',
  'fd00:ec2::254/128', // Amazon's
  'ff00::/8',
  '2001::/32', // Teredo contains an IPv4 address; it is obsolete.
);

/** Loopback, private (RFC 1918, RFC 4193), carrier-grade NAT (RFC 6598), site-local, benchmarks (RFC 2544). */
const LOCAL = networks(
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
  'fec0::/10',
);

/** IPv6 networks whose addresses contain an IPv4 address at this byte. */
const EMBEDDING_NETWORKS: readonly (readonly [readonly Network[], number])[] = [
  [networks('::/96'), 12], // IPv4-compatible (RFC 4291 section 2.5.5.1)
  [networks('64:ff9b::/96', '64:ff9b:1::/48'), 12], // NAT64 (RFC 6052, RFC 8215)
  [networks('2002::/16'), 2], // 6to4 (RFC 3056)
];

/** The scope of a 16-byte address; an IPv4 address embedded in it determines the scope. */
export function addressScope(address: Uint8Array): AddressScope {
  if (isIn(FORBIDDEN, address)) return 'forbidden';
  if (isIn(LOCAL, address)) return 'local';
  if (isMappedIpv4(address)) return 'public';
  const at = EMBEDDING_NETWORKS.find(([carrier]) => isIn(carrier, address))?.[1];
  if (at === undefined) return 'public';
  const carried = new Uint8Array(ADDRESS_SIZE).fill(0xff, 10, 12);
  carried.set(address.subarray(at, at + 4), 12);
  return addressScope(carried);
}

/** The scope of an address in text; `forbidden` if it is not an address. */
export function scopeOfText(text: string): AddressScope {
  const bytes = addressFromText(text);
  return bytes === null ? 'forbidden' : addressScope(bytes);
}

function networks(...texts: readonly string[]): readonly Network[] {
  return texts.map((text) => networkFromText(text)!);
}

function isIn(all: readonly Network[], address: Uint8Array): boolean {
  return all.some(({ bytes, prefixBits }) => {
    const whole = prefixBits >>> 3;
    for (let index = 0; index < whole; index++) if (bytes[index] !== address[index]) return false;
    const mask = 0xff00 >>> (prefixBits & 7);
    return whole === ADDRESS_SIZE || ((bytes[whole]! ^ address[whole]!) & mask & 0xff) === 0;
  });
}
