/**
 * Maps allowed clients of another program to keys of Weir's configuration. An import never allows all clients. Pure.
 */
import { networkContains, networkFromText, networkToText } from '../../../../shared/net/cidr.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { Network } from '../../../../shared/net/cidr.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import type { PlanBuilder } from './plan-builder.ts';

/**
 * Minimum prefix lengths; a network with a shorter prefix counts as all clients, because a few such networks contain
 * the whole internet.
 */
const SHORTEST_IPV4 = 96 + 8;
const SHORTEST_IPV6 = 16;
const ALL_IPV4: Network = networkFromText('0.0.0.0/0')!;

/** Weir's default. */
const DEFAULT: readonly string[] = ['private', 'connected'];

/** The machine itself, which most programs always answer. */
export const OWN_MACHINE: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** Reports that a server is open to anyone; in Weir the default is kept. */
export function reportOpen(builder: PlanBuilder, from: string): void {
  builder.notMapped('configuration', from, importReason('answers_anyone'));
}

/** Adds `dns.allowed_clients`: Weir's keywords, and networks as written in the file. */
export function addAllowed(builder: PlanBuilder, written: readonly string[], from: string): void {
  const allowed = written.flatMap((text) => {
    if (DEFAULT.includes(text)) return [text];
    const network = networkFromText(text);
    if (network === null) {
      builder.notMapped('configuration', `${from} ${text}`, importReason('not_a_network'));
      return [];
    }
    if (!isEveryone(network)) return [networkToText(network)];
    reportOpen(builder, `${from} ${text}`);
    return DEFAULT;
  });
  if (allowed.length > 0) builder.key('dns.allowed_clients', [...new Set(allowed)], from);
}

/** Adds `dns.blocked_clients`: networks, MACs and keys of clients. */
export function addBlocked(builder: PlanBuilder, written: readonly string[], from: string): void {
  if (written.length === 0) return;
  const canonical = written.map((text) => {
    const network = networkFromText(text);
    return network === null ? (canonicalMac(text) ?? text) : networkToText(network);
  });
  builder.key('dns.blocked_clients', [...new Set(canonical)], from);
}

/** Whether a network contains practically all addresses of its family. */
function isEveryone(network: Network): boolean {
  const { prefixBits } = network;
  return prefixBits < SHORTEST_IPV6 || (prefixBits < SHORTEST_IPV4 && overlaps(network, ALL_IPV4));
}

/** Whether two networks have addresses in common. */
export function overlaps(a: Network, b: Network): boolean {
  return a.prefixBits <= b.prefixBits ? networkContains(a, b.bytes) : networkContains(b, a.bytes);
}
