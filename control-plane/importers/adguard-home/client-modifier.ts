/** Names of clients in the modifier `$client`, as the addresses, networks, MACs and keys that these clients are known by. Pure. */

/** The rule with addresses for names; null if it names a client without such an address. Unknown names stay. */
export function withAddresses(
  rule: string,
  addressesOf: ReadonlyMap<string, readonly string[]>,
): string | null {
  const unknown: string[] = [];
  const written = rule.replace(/([$,]client=)((?:\\.|[^,\\])*)/, (_whole, head: string, value: string) => {
    const clients = value.split(/(?<!\\)\|/).map((client) => {
      const except = client.startsWith('~') ? '~' : '';
      const known = addressesOf.get(plainName(client.slice(except.length)));
      if (known === undefined) return client;
      if (known.length === 0) unknown.push(client);
      return known.map((address) => except + address).join('|');
    });
    return head + clients.join('|');
  });
  return unknown.length > 0 ? null : written;
}

/** Without quotes and backslashes. */
function plainName(text: string): string {
  const unquoted = /^(['"])(.*)\1$/.exec(text)?.[2] ?? text;
  return unquoted.replaceAll(/\\(.)/g, '$1');
}
