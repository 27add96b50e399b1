/**
 * Replaces names of clients in the modifier `$client`, and their tags in `$ctag`, with the addresses, networks, MACs
 * and keys that identify these clients. A client with its own entry does not count as the client whose network contains
 * its address. Pure.
 */
import { type ImportReason, importReason } from '../../../../../shared/policy/reasons/import-reasons.ts';
import { networkContains, networkFromText } from '../../../../../shared/net/cidr.ts';

/** A rule without its client modifier, or the reason why it has no effect. */
export type TaggedRule = { readonly rule: string } | { readonly rule: null; readonly reason: ImportReason };

/** The rule with names of clients in place of tags. */
export function withoutTags(rule: string, namesOf: ReadonlyMap<string, readonly string[]>): TaggedRule {
  const [modifier, , value] = /([$,])ctag=([^,]*)/.exec(rule) ?? [];
  if (modifier === undefined || value === undefined) return { rule };
  const [, named] = /[$,]client=((?:\\.|[^,\\])*)/.exec(rule) ?? [];
  if (named !== undefined && !/^~/.test(named))
    return { rule: null, reason: importReason('adguard_name_and_tag') };
  const tags = value.split('|').map((tag) => tag.trim());
  const clientsOf = (some: readonly string[]): Set<string> =>
    new Set(some.flatMap((tag) => namesOf.get(tag) ?? []));
  const wantedTags = tags.filter((tag) => !tag.startsWith('~'));
  const wanted = clientsOf(wantedTags);
  const excepted = clientsOf(tags.flatMap((tag) => (tag.startsWith('~') ? [tag.slice(1)] : [])));
  if (wantedTags.length > 0 && wanted.size === 0)
    return { rule: null, reason: importReason('adguard_no_tag') };
  const clients = [...[...wanted].map(quoted), ...[...excepted].map((name) => `~${quoted(name)}`)];
  if (clients.length > 0 && named !== undefined) {
    const rest = rule.replace(modifier, modifier.startsWith('$') ? '$' : '').replace('$,', '$');
    return { rule: rest.replace(named, () => [...clients, named].join('|')) };
  }
  if (clients.length > 0)
    return { rule: rule.replace(modifier, () => `${modifier[0]!}client=${clients.join('|')}`) };
  const isFirstOfSome = modifier.startsWith('$') && rule.includes(`${modifier},`);
  return { rule: isFirstOfSome ? rule.replace(`${modifier},`, () => '$') : rule.replace(modifier, '') };
}

/** A name in the notation of `$client`. */
function quoted(name: string): string {
  return name.replaceAll(/[\\,|'"~]/g, '\\$&');
}

/** The rule with addresses in place of names; null if it names a client without an address. Unknown names are kept. */
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

/**
 * Whether a client identified by `place` may be in a network; true for a client without an address, whose location is
 * unknown.
 */
function mayBeInside(place: string, network: string): boolean {
  const around = network.includes('/') ? networkFromText(network) : null;
  const inside = networkFromText(place);
  if (around === null || inside === null) return around !== null;
  return inside.prefixBits > around.prefixBits && networkContains(around, inside.bytes);
}

/** The name without quotes and backslashes. */
function plainName(text: string): string {
  const unquoted = /^(['"])(.*)\1$/.exec(text)?.[2] ?? text;
  return unquoted.replaceAll(/\\(.)/g, '$1');
}
