/**
 * Records addresses that forward requests for other clients, but are not in `server.trusted_proxies`: all these clients
 * appear to have the address of the proxy.
 */

/** Maximum number of addresses that are kept; a single address is enough for a warning. */
const MAX_ADDRESSES = 64;

/** The untrusted proxies seen since the start. */
export class UntrustedProxies {
  private readonly addresses = new Set<string>();

  /** Records the address of a request if it names another client in `X-Forwarded-For`. */
  readonly note = (address: string, forwardedFor: string | undefined): void => {
    if (forwardedFor === undefined || this.addresses.size >= MAX_ADDRESSES) return;
    this.addresses.add(address);
  };

  has(address: string): boolean {
    return this.addresses.has(address);
  }
}
