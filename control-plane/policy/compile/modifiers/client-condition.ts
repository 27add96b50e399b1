/**
 * Parses `$client`: addresses, networks, MACs and names of clients, separated by `|`, with `~` for exclusions. Names
 * may be quoted; a backslash escapes a comma, bar, quote or backslash. Names are resolved when a snapshot is built, see
 * `shared/snapshot/named-clients.ts`.
 */
import { networkFromText } from '../../../../shared/net/cidr.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import { type LineReason, lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import type { ClientRange, SpecialRule } from '../../../../shared/snapshot/special-rules.ts';

/** The fields of a special rule that represent `$client`. */
export type ClientCondition = Pick<
  SpecialRule,
  'clients' | 'exceptClients' | 'clientNames' | 'exceptClientNames'
>;

/** Maximum length of a client's name in characters, as in the API. */
const MAX_NAME_LENGTH = 200;

/** Reads the value of `$client`; returns a reason if the value cannot be used. */
export function readClientCondition(value: string): ClientCondition | LineReason {
  const wanted = new ClientSet();
  const excepted = new ClientSet();
  for (const word of splitUnescaped(value, '|')) {
    const isExcepted = word.startsWith('~');
    const client = unquoted(isExcepted ? word.slice(1) : word);
    const fault = (isExcepted ? excepted : wanted).add(client);
    if (fault !== null) return fault;
  }
  return {
    ...(wanted.ranges.length > 0 ? { clients: wanted.ranges } : {}),
    ...(excepted.ranges.length > 0 ? { exceptClients: excepted.ranges } : {}),
    ...(wanted.names.length > 0 ? { clientNames: wanted.names } : {}),
    ...(excepted.names.length > 0 ? { exceptClientNames: excepted.names } : {}),
  };
}

/** Splits a text at unescaped separators; backslashes are kept. */
export function splitUnescaped(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Collects the clients of a `$client` modifier. */
class ClientSet {
  readonly ranges: ClientRange[] = [];
  readonly names: string[] = [];

  /** Adds a client; returns a reason if the text is invalid. */
  add(client: string): LineReason | null {
    const network = networkFromText(client);
    const mac = canonicalMac(client);
    if (network !== null)
      this.ranges.push({ address: Buffer.from(network.bytes).toString('hex'), bits: network.prefixBits });
    else if (mac !== null) this.names.push(mac);
    else if (isMeantAsAddress(client)) return lineReason('client_address', { client: client.slice(0, 40) });
    else if (!isName(client)) return lineReason('client_name', { client: client.slice(0, 40) });
    else this.names.push(client.toLowerCase());
    return null;
  }
}

/** Whether the text is meant as an address, even if invalid; names of clients contain neither slashes nor colons. */
function isMeantAsAddress(text: string): boolean {
  return /[/:]/.test(text) || /^[\d.]+$/.test(text);
}

function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(text);
}

function unquoted(word: string): string {
  const text = word.trim();
  const quote = text[0];
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return (isQuoted ? text.slice(1, -1) : text).replaceAll(/\\(.)/gu, '$1');
}
