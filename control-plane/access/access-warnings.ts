/** What may be wrong with who may ask: an open resolver, and clients that all look local. Pure. */
import type { Config } from '../../config/schema.ts';
import { addressScope } from '../../shared/net/address-scope.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { isOpenToAnyone } from './who-may-ask.ts';

/** Clients that were seen longer ago say nothing about now. */
const RECENT_MS = 24 * 3_600_000;

/** What the warnings go by. */
export interface AccessFacts {
  readonly dns: Pick<Config['dns'], 'allowed_clients' | 'rate_limit'>;
  /** Addresses of this machine that DNS listens on. */
  readonly listening: readonly string[];
  /** Clients by address, as known to this node. */
  readonly clients: readonly { readonly ip: string | null; readonly lastSeenMs: number | null }[];
  /** Addresses of the default gateways, if this node runs in a container; else empty. */
  readonly containerGateways: readonly string[];
  /** Whether a proxy that is not trusted forwarded requests from an address. */
  readonly forwardsFor: (address: string) => boolean;
  readonly nowMs: number;
}

/**
 * Whether this node is an open resolver: anyone may ask without a rate limit, and the internet reaches it, as its own
 * address or that of a recent client is public.
 */
export function isOpenWithoutLimit({ dns, listening, clients, nowMs }: AccessFacts): boolean {
  const { enabled, dry_run: isDryRun } = dns.rate_limit;
  if (!isOpenToAnyone(dns.allowed_clients) || (enabled && !isDryRun)) return false;
  return listening.some(isPublic) || recentAddresses(clients, nowMs).some(isPublic);
}

/**
 * The address that all recent clients have, if it is not theirs: the gateway of a container, whose NAT hides them, or a
 * proxy that names another client. A single client elsewhere has its own address, so that it is never taken for one.
 * Null = there is no such address.
 */
export function onlyAddress({ clients, containerGateways, forwardsFor, nowMs }: AccessFacts): string | null {
  const [only, ...others] = new Set(recentAddresses(clients, nowMs));
  if (only === undefined || others.length > 0) return null;
  return containerGateways.includes(only) || forwardsFor(only) ? only : null;
}

function recentAddresses(clients: AccessFacts['clients'], nowMs: number): string[] {
  return clients.flatMap(({ ip, lastSeenMs }) =>
    ip !== null && lastSeenMs !== null && nowMs - lastSeenMs < RECENT_MS ? [ip] : [],
  );
}

function isPublic(address: string): boolean {
  const bytes = addressFromText(address);
  return bytes !== null && addressScope(bytes) === 'public';
}
