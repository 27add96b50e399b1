/**
 * Which MAC answers for which address, from the kernel's neighbour table. The kernel drops entries that it does not
 * need; this map keeps the last MAC until another one answers for the address.
 */

/** Most addresses kept; beyond it the ones learnt first are evicted. */
const MAX_ENTRIES = 100_000;
/** Addresses of one MAC; an interface has a few IPv6 addresses at a time. */
const MAX_OF_ONE = 16;

/** Maps addresses to MACs and back. */
export class NeighbourMap {
  private readonly macs = new Map<string, string>();
  private readonly addresses = new Map<string, string[]>();

  /** The MAC at an address; null if it was never seen. */
  macAt(address: string): string | null {
    return this.macs.get(address) ?? null;
  }

  /** Addresses of a MAC, the one learnt last first. */
  addressesOf(mac: string): readonly string[] {
    return this.addresses.get(mac) ?? [];
  }

  /** Records an entry of the kernel; returns whether it changed anything. */
  learn(address: string, mac: string): boolean {
    if (this.macs.get(address) === mac) return false;
    this.forget(address);
    if (this.macs.size >= MAX_ENTRIES) this.forget(this.macs.keys().next().value!);
    this.macs.set(address, mac);
    const others = this.addresses.get(mac) ?? [];
    this.addresses.set(mac, [address, ...others]);
    if (others.length >= MAX_OF_ONE) this.forget(others.at(-1)!);
    return true;
  }

  /** Records an entry from before the restart, unless the kernel has a newer one. */
  recall(addresses: readonly string[], mac: string): void {
    // The list starts with the last one learnt.
    for (const address of addresses.toReversed()) if (!this.macs.has(address)) this.learn(address, mac);
  }

  private forget(address: string): void {
    const mac = this.macs.get(address);
    if (mac === undefined) return;
    this.macs.delete(address);
    const rest = this.addressesOf(mac).filter((other) => other !== address);
    if (rest.length > 0) this.addresses.set(mac, rest);
    else this.addresses.delete(mac);
  }
}
