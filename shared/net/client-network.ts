/** The network that a limit counts as one client. */
import { addressFromText, addressToText, isMappedIpv4 } from './ip.ts';

/**
 * The network of an address: IPv4 unchanged, IPv6 as its /64, in which a client can use any address; other text is
 * unchanged.
 */
export function clientNetwork(address: string): string {
  const bytes = addressFromText(address);
  if (bytes === null) return address;
  return isMappedIpv4(bytes) ? addressToText(bytes) : `${addressToText(bytes.fill(0, 8))}/64`;
}

/** The larger network that may belong to one owner: the /24 for IPv4, the /48 for IPv6; other text is unchanged. */
export function widerNetwork(address: string): string {
  const bytes = addressFromText(address.replace(/\/64$/, ''));
  if (bytes === null) return address;
  return isMappedIpv4(bytes)
    ? `${addressToText(bytes.fill(0, 15))}/24`
    : `${addressToText(bytes.fill(0, 6))}/48`;
}
