/**
 * Parses rules for addresses in answers. Lists contain them in two forms: networks as `a.b.c.d/n`, and owner names of
 * `rpz-ip` records in a response policy zone (draft-vixie-dnsop-dns-rpz section 4.3), which consist of the prefix
 * length and the parts of the address in reverse order, with `zz` for `::`.
 */
import { type Network, networkFromText, networkToText } from '../../../../shared/net/cidr.ts';
import { ADDRESS_SIZE, addressFromText, addressToText, isMappedIpv4 } from '../../../../shared/net/ip.ts';

/** Bits of a 16-byte address; the last 32 are those of an IPv4 address. */
const BITS = ADDRESS_SIZE * 8;
const IPV4_BITS = 32;
const TRIGGER = /^(.+)\.rpz-ip(?:\..*)?$/i;

/** A network whose addresses must not be in an answer. */
export interface AddressNetwork {
  /** The address, or `address/length`, in the form of `networkToText`. */
  readonly text: string;
  /** Length of the prefix, and total number of bits, 32 or 128. Both are equal for a single address. */
  readonly prefixBits: number;
  readonly addressBits: number;
}

/** The network of `address` or `address/length`, with bits after the prefix cleared; null for any other text. */
export function networkOf(text: string): AddressNetwork | null {
  const network = networkFromText(text);
  return network && toAddressNetwork(network);
}

/** Whether an owner belongs to an `rpz-ip` record. */
export function isAddressTrigger(owner: string): boolean {
  return TRIGGER.test(owner);
}

/**
 * The network of an `rpz-ip` record's owner; null if it is invalid. An IPv4 address without a prefix length is read in
 * normal order, because published lists contain such owners. An IPv6 address without a prefix length is read in the
 * order that gives a global unicast address (RFC 4291 section 2.4), or in reverse if neither order does.
 */
export function networkOfTrigger(owner: string): AddressNetwork | null {
  const labels = TRIGGER.exec(owner)?.[1]?.toLowerCase().split('.') ?? [];
  const [length = '', ...parts] = labels;
  const reversed = parts.toReversed();
  const withLength = networkFromText(`${joined(reversed)}/${length}`);
  if (withLength !== null && hasNothingBehind(joined(reversed), withLength))
    return toAddressNetwork(withLength);
  const plain = joined(labels);
  if (!plain.includes(':')) return labels.length === 4 ? networkOf(plain) : null;
  return networkOf(isGlobalUnicast(plain) ? plain : joined(labels.toReversed()));
}

/** The text of an address with these parts, first part first. */
function joined(parts: readonly string[]): string {
  if (parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part))) return parts.join('.');
  if (parts.length === 1 && parts[0] === 'zz') return '::';
  const text = parts.join(':').replace('zz', '');
  const start = text.startsWith(':') ? ':' : '';
  return start + text + (text.endsWith(':') ? ':' : '');
}

/** Whether all bits after the prefix are zero in the written address. */
function hasNothingBehind(address: string, network: Network): boolean {
  const written = addressFromText(address);
  return written !== null && addressToText(written) === addressToText(network.bytes);
}

/** Whether the address is in 2000::/3. */
function isGlobalUnicast(text: string): boolean {
  const address = addressFromText(text);
  return address !== null && address[0]! >>> 5 === 1;
}

function toAddressNetwork(network: Network): AddressNetwork {
  const isIpv4 = isMappedIpv4(network.bytes) && network.prefixBits >= BITS - IPV4_BITS;
  const addressBits = isIpv4 ? IPV4_BITS : BITS;
  const prefixBits = network.prefixBits - BITS + addressBits;
  const text = prefixBits === addressBits ? addressToText(network.bytes) : networkToText(network);
  return { text, prefixBits, addressBits };
}
