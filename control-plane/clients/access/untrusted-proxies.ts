/**
 * Addresses that forward requests for others without being in `server.trusted_proxies`: all their clients appear to
 * have that address.
 */

/** Maximum number of addresses kept; a single one is enough for a warning. */
const MAX_ADDRESSES = 64;

/** The untrusted proxies seen since the start. */
export class UntrustedProxies {
  private readonly addresses = new Set<string>();

  /** Records the address of a request, and the client that it names, if any. */
  readonly note = (address: string, forwardedFor: string | undefined): void => {
    if (forwardedFor === undefined || this.addresses.size >= MAX_ADDRESSES) return;
    this.addresses.add(address);
  };

  has(address: string): boolean {
    return this.addresses.has(address);
  }
}
