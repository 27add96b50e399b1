/**
 * Names of clients in the modifier `$client`, as the addresses, networks, MACs and keys that these clients are known by.
 * A separate client inside the network of another one is not that other one. Pure.
 */
import { networkContains, networkFromText } from '../../../../shared/net/cidr.ts';

/** The rule with addresses for names; null if it names a client without such an address. Unknown names stay. */
export function withAddresses(
  rule: string,
  addressesOf: ReadonlyMap<string, readonly string[]>,
): string | null {
  const unknown: string[] = [];
  const written = rule.replace(/([$,]client=)((?:\\.|[^,\\])*)/, (_whole, head: string, value: string) => {
    const wanted: string[] = [];
    const clients = value.split(/(?<!\\)\|/).map((client) => {
      const except = client.startsWith('~') ? '~' : '';
      const known = addressesOf.get(plainName(client.slice(except.length)));
      if (known === undefined) return client;
      if (known.length === 0) unknown.push(client);
      if (except === '') wanted.push(...known);
      return known.map((address) => except + address).join('|');
    });
    const others = [...addressesOf.values()].flat().filter((place) => !wanted.includes(place));
    const apart = others.filter((place) => wanted.some((network) => mayBeInside(place, network)));
    return head + [...clients, ...apart.map((place) => `~${place}`)].join('|');
  });
  return unknown.length > 0 ? null : written;
}

/** Whether a client that is known by `place` may be in a network: only addresses say where it is. */
function mayBeInside(place: string, network: string): boolean {
  const around = network.includes('/') ? networkFromText(network) : null;
  const inside = networkFromText(place);
  if (around === null || inside === null) return around !== null;
  return inside.prefixBits > around.prefixBits && networkContains(around, inside.bytes);
}

/** Without quotes and backslashes. */
function plainName(text: string): string {
  const unquoted = /^(['"])(.*)\1$/.exec(text)?.[2] ?? text;
  return unquoted.replaceAll(/\\(.)/g, '$1');
}
