/** The network that counts as one client in limits. */
import { addressFromText, addressToText, isMappedIpv4 } from './ip.ts';

/** IPv4 as it is, IPv6 as its /64, of which a client can take any address; other text stays unchanged. */
export function clientNetwork(address: string): string {
  const bytes = addressFromText(address);
  if (bytes === null) return address;
  return isMappedIpv4(bytes) ? addressToText(bytes) : `${addressToText(bytes.fill(0, 8))}/64`;
}

/** The network that one owner may have many of those in: of IPv4 the /24, of IPv6 the /48; other text stays unchanged. */
export function widerNetwork(address: string): string {
  const bytes = addressFromText(address.replace(/\/64$/, ''));
  if (bytes === null) return address;
  return isMappedIpv4(bytes)
    ? `${addressToText(bytes.fill(0, 15))}/24`
    : `${addressToText(bytes.fill(0, 6))}/48`;
}
