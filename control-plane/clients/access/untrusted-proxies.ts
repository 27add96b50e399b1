/** Addresses that forward requests for others without being in `server.trusted_proxies`: their clients look like them. */

/** Maximum number of addresses kept; a single one is enough for a warning. */
const MAX_ADDRESSES = 64;

/** Collects them since the start. */
export class UntrustedProxies {
  private readonly addresses = new Set<string>();

  /** Notes the address of a request, and the client that it names, if it does. */
  readonly note = (address: string, forwardedFor: string | undefined): void => {
    if (forwardedFor === undefined || this.addresses.size >= MAX_ADDRESSES) return;
    this.addresses.add(address);
  };

  has(address: string): boolean {
    return this.addresses.has(address);
  }
}
