/** What may be wrong with who may ask: an open resolver, and clients that all look local. Pure. */
import type { Config } from '../../config/schema.ts';
import { addressScope } from '../../shared/net/address-scope.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { isOpenToAnyone } from './allowed-in-words.ts';

/** What the warnings go by. */
export interface AccessFacts {
  readonly dns: Pick<Config['dns'], 'allowed_clients' | 'rate_limit'>;
  /** Addresses of this machine that DNS listens on. */
  readonly listening: readonly string[];
  /** Addresses of the clients of the last day. */
  readonly clients: readonly string[];
  /** Addresses of the default gateways, if this node runs in a container; else empty. */
  readonly containerGateways: readonly string[];
  /** Whether a proxy that is not trusted forwarded requests from an address. */
  readonly forwardsFor: (address: string) => boolean;
}

/**
 * Whether this node is an open resolver: anyone may ask without a rate limit, and the internet reaches it, as its own
 * address or that of a recent client is public.
 */
export function isOpenWithoutLimit({ dns, listening, clients }: AccessFacts): boolean {
  const { enabled, dry_run: isDryRun } = dns.rate_limit;
  if (!isOpenToAnyone(dns.allowed_clients) || (enabled && !isDryRun)) return false;
  return listening.some(isPublic) || clients.some(isPublic);
}

/**
 * The gateway of a container, or a proxy that names another client, if all recent queries came from its address: the
 * real clients are hidden behind it. Null if not. A single client elsewhere asks from its own address and never counts.
 */
export function onlyAddress({ clients, containerGateways, forwardsFor }: AccessFacts): string | null {
  const all = new Set(clients);
  if (all.size === 1 && forwardsFor(clients[0]!)) return clients[0]!;
  // The container itself also asks, such as its health check.
  const [only, ...others] = [...all].filter((address) => address !== '::1' && !address.startsWith('127.'));
  return only !== undefined && others.length === 0 && containerGateways.includes(only) ? only : null;
}

function isPublic(address: string): boolean {
  const bytes = addressFromText(address);
  return bytes !== null && addressScope(bytes) === 'public';
}
