/** Choices of public resolvers that ship with Weir: what they are called, and which servers a choice makes. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A public resolver. */
export type Known = AnswerOf<'GET /upstream-catalog'>[number];

/** Transports of a server, the best first. */
const TRANSPORTS = ['tls', 'https', 'udp'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The name of a resolver: of its operator, and which of its resolvers. */
export function nameOf({ operator, variant }: Pick<Known, 'operator' | 'variant'>): string {
  return variant === '' ? operator : `${operator} (${variant})`;
}

/** The transports of a resolver. */
export function transportsOf(known: Known): Transport[] {
  return TRANSPORTS.filter((transport) => known[transport].length > 0);
}

/** The resolver and transport whose servers these are; null if people wrote others. */
export function choiceOf(
  all: readonly Known[],
  servers: readonly string[],
): { readonly known: Known; readonly transport: Transport } | null {
  const text = servers.join(' ');
  for (const known of all)
    for (const transport of transportsOf(known))
      if (known[transport].join(' ') === text) return { known, transport };
  return null;
}
