/** Public resolvers that ship with Weir: their names, and the servers of each choice. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';

/** A public resolver. */
export type Known = AnswerOf<'GET /upstream-catalog'>[number];

/** Transports of a server, in order of preference. */
const TRANSPORTS = ['tls', 'https', 'udp'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Name of a resolver: its operator and variant. */
export function nameOf({ operator, variant }: Pick<Known, 'operator' | 'variant'>): string {
  return variant === '' ? operator : `${operator} (${variant})`;
}

export function transportsOf(known: Known): Transport[] {
  return TRANSPORTS.filter((transport) => known[transport].length > 0);
}

/** The first variants of the first operators, which are visible without opening a list. */
export function firstOffered(all: readonly Known[], most: number): Known[] {
  const operators = [...Map.groupBy(all, ({ operator }) => operator).values()];
  return operators.slice(0, most).map((variants) => variants[0]!);
}

/** The public resolver and transport to which these servers belong; null if there is none. */
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
