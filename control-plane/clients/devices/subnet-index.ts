/** Finds the longest network that contains an address, among many. Pure. The DNS threads use a separate table. */
import { clearAfter, networkFromText } from '../../../shared/net/cidr.ts';
import { ADDRESS_SIZE, addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';
import type { PolicySubnet } from '../../policy/change/rows.ts';

const IPV4_PREFIX_BITS = 96;

/** Networks with their groups. */
export class SubnetIndex {
  /** Groups by the bytes of the network, for each prefix length, the longest first. */
  private readonly byLength: readonly (readonly [number, ReadonlyMap<string, number>])[];

  constructor(subnets: readonly PolicySubnet[]) {
    const byLength = new Map<number, Map<string, number>>();
    for (const { cidr, groupId } of subnets) {
      const network = networkFromText(cidr);
      if (network === null) continue;
      let groups = byLength.get(network.prefixBits);
      if (groups === undefined) byLength.set(network.prefixBits, (groups = new Map<string, number>()));
      groups.set(keyOf(network.bytes), groupId);
    }
    this.byLength = [...byLength].sort(([a], [b]) => b - a);
  }

  /**
   * Group of the longest network that contains `address`; null = no network contains it. IPv6 networks never contain
   * IPv4 addresses.
   */
  groupOf(address: string): number | null {
    const bytes = addressFromText(address);
    if (bytes === null) return null;
    const isIpv4 = isMappedIpv4(bytes);
    const masked = new Uint8Array(ADDRESS_SIZE);
    for (const [length, groups] of this.byLength) {
      if (isIpv4 && length < IPV4_PREFIX_BITS) return null;
      masked.set(bytes);
      clearAfter(masked, length);
      const groupId = groups.get(keyOf(masked));
      if (groupId !== undefined) return groupId;
    }
    return null;
  }
}

function keyOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
