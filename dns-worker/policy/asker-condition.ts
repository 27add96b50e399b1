/**
 * The condition of a special rule on the client and the type ($client, $dnstype): whether the rule has such a
 * condition, and whether the condition is met.
 */
import type { NamedClients } from '../../shared/snapshot/named-clients.ts';
import type { ClientRange, SpecialRule } from '../../shared/snapshot/special-rules.ts';
import type { Query } from '../query/query.ts';

/** Whether the rule has a condition on the type or the client. */
export function hasAsker(rule: SpecialRule): boolean {
  return (
    rule.types !== undefined ||
    rule.exceptTypes !== undefined ||
    rule.clients !== undefined ||
    rule.exceptClients !== undefined ||
    rule.clientNames !== undefined ||
    rule.exceptClientNames !== undefined
  );
}

/** Whether the condition is met for this client and this type (of the question, or of a record in its answer). */
export function isFor(rule: SpecialRule, type: number, asker: Query, named: NamedClients): boolean {
  if (rule.types !== undefined && !rule.types.includes(type)) return false;
  if (rule.exceptTypes !== undefined && rule.exceptTypes.includes(type)) return false;
  const isForAll = rule.clients === undefined && rule.clientNames === undefined;
  if (!isForAll && !isAmong(asker, rule.clients, rule.clientNames, named)) return false;
  return !isAmong(asker, rule.exceptClients, rule.exceptClientNames, named);
}

/** Whether the list contains the client. */
function isAmong(
  asker: Query,
  ranges: readonly ClientRange[] | undefined,
  names: readonly string[] | undefined,
  named: NamedClients,
): boolean {
  if (ranges?.some((range) => contains(range, asker)) === true) return true;
  if (names === undefined) return false;
  const { keyed } = asker;
  // A client with a key is only the client of that key, even if its address belongs to another client.
  if (keyed !== null) return keyed.names.some((name) => names.includes(name));
  if (asker.identity !== null && named.hasSome(names, asker.identity, 0)) return true;
  return named.hasSome(names, asker.clientBytes, asker.clientAt);
}

function contains({ address, bits }: ClientRange, { clientBytes, clientAt }: Query): boolean {
  for (let bit = 0; bit < bits; bit += 4) {
    const digit = Number.parseInt(address[bit >>> 2]!, 16);
    const byte = clientBytes[clientAt + (bit >>> 3)]!;
    const own = (bit & 4) === 0 ? byte >>> 4 : byte & 0xf;
    const left = bits - bit;
    if ((digit ^ own) >>> (left >= 4 ? 0 : 4 - left) !== 0) return false;
  }
  return true;
}
