/** Determines warnings about which clients may query this node, for the API, health and the start message. */
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Config } from '../../../config/schema.ts';
import type { ACCESS_WARNINGS } from '../../../shared/api/policy/access-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { addressFromText, addressToText } from '../../../shared/net/ip.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import { defaultRoute4, defaultRoute6 } from '../../host/default-gateway.ts';
import type { UntrustedProxies } from './untrusted-proxies.ts';
import { addressScope } from '../../../shared/net/address-scope.ts';
import { isOpenToAnyone } from './allowed-in-words.ts';

/** Dependencies of `AccessState`. */
export interface AccessStateParts {
  readonly config: () => Config;
  readonly clients: Pick<ClientDirectory, 'seenSince'>;
  readonly proxies: Pick<UntrustedProxies, 'has'>;
  readonly clock: Clock;
}

/** Warnings, and the address that all clients seem to have if a warning refers to this address. */
export interface AccessNow {
  readonly warnings: readonly (typeof ACCESS_WARNINGS)[number][];
  readonly onlyAddress: string | null;
}

/** Clients that have not been seen for this many milliseconds are ignored. */
const RECENT_MS = 24 * 3_600_000;

/**
 * Milliseconds for which a result is reused: with many clients, it takes milliseconds to compute, and health is
 * requested often.
 */
const KEPT_MS = 10_000;

/** Computes the state from memory. */
export class AccessState {
  private readonly parts: AccessStateParts;
  private readonly containerGateways: readonly string[];
  private last: { readonly now: AccessNow; readonly dns: Config['dns']; readonly atMs: number } | null = null;

  constructor(parts: AccessStateParts, containerGateways = gatewaysOfContainer()) {
    this.parts = parts;
    this.containerGateways = containerGateways;
  }

  /** The current state, or a result of the last few seconds with the same settings. */
  now(): AccessNow {
    const { config, clients, proxies, clock } = this.parts;
    const { dns, server } = config();
    const atMs = clock.monotonicMs();
    if (this.last !== null && this.last.dns === dns && atMs - this.last.atMs < KEPT_MS) return this.last.now;
    const nowMs = clock.nowMs();
    const facts: AccessFacts = {
      dns,
      listening: ownAddresses(server.bind_address),
      clients: clients.seenSince(nowMs - RECENT_MS).map(({ address }) => address),
      containerGateways: this.containerGateways,
      forwardsFor: (address) => proxies.has(address),
    };
    const only = onlyAddress(facts);
    const now: AccessNow = {
      warnings: [
        ...(isOpenWithoutLimit(facts) ? (['open_without_limit'] as const) : []),
        ...(only === null ? [] : (['one_address'] as const)),
      ],
      onlyAddress: only,
    };
    this.last = { now, dns, atMs };
    return now;
  }
}

/** The addresses in `server.bind_address`, or all addresses of this machine if one of them is a wildcard. */
export function ownAddresses(bound: readonly string[]): string[] {
  if (!bound.some((address) => address === '0.0.0.0' || address === '::')) return [...bound];
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
}

/** Gateways of Docker and Podman, whose bridges may hide clients; empty outside a container. */
function gatewaysOfContainer(): string[] {
  if (!existsSync('/.dockerenv') && !existsSync('/run/.containerenv')) return [];
  return [defaultRoute4().gateway, defaultRoute6()?.gateway].flatMap((text) => {
    const bytes = addressFromText(text ?? '');
    return bytes === null ? [] : [addressToText(bytes)];
  });
}

/** Data on which the warnings depend. */
export interface AccessFacts {
  readonly dns: Pick<Config['dns'], 'allowed_clients' | 'rate_limit'>;
  /** Addresses of this machine on which DNS listens. */
  readonly listening: readonly string[];
  /** Addresses of the clients of the last day. */
  readonly clients: readonly string[];
  /** Addresses of the default gateways, if this node runs in a container; empty outside a container. */
  readonly containerGateways: readonly string[];
  /** Whether a proxy that is not trusted forwarded requests from an address. */
  readonly forwardsFor: (address: string) => boolean;
}

/**
 * Whether this node is an open resolver: any client may query it without a rate limit, and it can be reached from the
 * internet, because its own address or the address of a recent client is public.
 */
export function isOpenWithoutLimit({ dns, listening, clients }: AccessFacts): boolean {
  const { enabled, dry_run: isDryRun } = dns.rate_limit;
  if (!isOpenToAnyone(dns.allowed_clients) || (enabled && !isDryRun)) return false;
  return listening.some(isPublic) || clients.some(isPublic);
}

/**
 * The single address of all recent queries if it hides the real clients, because it belongs to a container's gateway or
 * to a proxy. Null if the queries are from several addresses or from a single ordinary client.
 */
export function onlyAddress({ clients, containerGateways, forwardsFor }: AccessFacts): string | null {
  const all = new Set(clients);
  if (all.size === 1 && forwardsFor(clients[0]!)) return clients[0]!;
  // Loopback addresses are ignored, because the container itself also sends queries, for example as its health check.
  const [only, ...others] = [...all].filter((address) => address !== '::1' && !address.startsWith('127.'));
  return only !== undefined && others.length === 0 && containerGateways.includes(only) ? only : null;
}

function isPublic(address: string): boolean {
  const bytes = addressFromText(address);
  return bytes !== null && addressScope(bytes) === 'public';
}
