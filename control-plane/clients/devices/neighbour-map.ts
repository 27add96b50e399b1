/**
 * Addresses and their MACs, from the kernel's neighbour table. The kernel removes entries that it does not need; this
 * map keeps the last MAC of an address until another MAC uses the address.
 */

/** Maximum number of addresses; if it is exceeded, the addresses that were learnt first are evicted. */
const MAX_ENTRIES = 100_000;
/** Maximum number of addresses per MAC; an interface has only a few IPv6 addresses at a time. */
const MAX_OF_ONE = 16;

/** Maps addresses to MACs and back. */
export class NeighbourMap {
  private readonly macs = new Map<string, { readonly mac: string; confirmed: number }>();
  private readonly addresses = new Map<string, string[]>();
  /** Number of entries that were read from the kernel. */
  private confirmations = 0;

  /** The MAC at an address; null if it was never seen. */
  macAt(address: string): string | null {
    return this.macs.get(address)?.mac ?? null;
  }

  /** Addresses of a MAC, the last learnt first. */
  addressesOf(mac: string): readonly string[] {
    return this.addresses.get(mac) ?? [];
  }

  /** Records an entry of the kernel; returns whether it changed anything. */
  learn(address: string, mac: string): boolean {
    const known = this.macs.get(address);
    if (known?.mac === mac) {
      known.confirmed = ++this.confirmations;
      return false;
    }
    this.remove(address);
    if (this.macs.size >= MAX_ENTRIES) this.remove(this.macs.keys().next().value!);
    const others = this.addresses.get(mac) ?? [];
    if (others.length >= MAX_OF_ONE) this.remove(this.leastConfirmed(others));
    this.macs.set(address, { mac, confirmed: ++this.confirmations });
    this.addresses.set(mac, [address, ...this.addressesOf(mac)]);
    return true;
  }

  /** Records an entry from before the restart, unless the kernel has a newer one. */
  restore(addresses: readonly string[], mac: string): void {
    // Reversed, because the list starts with the address that was learnt last.
    for (const address of addresses.toReversed()) if (!this.macs.has(address)) this.learn(address, mac);
  }

  /**
   * The address whose last confirmation is longest ago. It is not the address that was learnt first, because a device
   * keeps its IPv4 address, while its IPv6 addresses change daily.
   */
  private leastConfirmed(addresses: readonly string[]): string {
    const confirmed = (address: string): number => this.macs.get(address)?.confirmed ?? 0;
    return addresses.reduce((min, address) => (confirmed(address) < confirmed(min) ? address : min));
  }

  private remove(address: string): void {
    const mac = this.macAt(address) ?? undefined;
    if (mac === undefined) return;
    this.macs.delete(address);
    const rest = this.addressesOf(mac).filter((other) => other !== address);
    if (rest.length > 0) this.addresses.set(mac, rest);
    else this.addresses.delete(mac);
  }
}
