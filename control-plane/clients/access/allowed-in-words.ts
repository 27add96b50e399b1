/** Describes `dns.allowed_clients` in words, for the start message, health and the welcome page. Pure. */

/** Maximum number of networks that are listed; others are only counted. */
const LISTED = 3;
const ANYONE: readonly string[] = ['any', '0.0.0.0/0', '::/0'];

/** Whether any client may query this node, over IPv4 or IPv6. */
export function isOpenToAnyone(allowed: readonly string[]): boolean {
  return allowed.some((entry) => ANYONE.includes(entry));
}

/** Description of the allowed clients, such as "private networks, connected networks and 192.0.2.0/24". */
export function whoMayAsk(allowed: readonly string[]): string {
  if (isOpenToAnyone(allowed)) return 'anyone';
  const networks = allowed.filter((entry) => !isWord(entry));
  const listed = networks.length > LISTED ? [`${networks.length} listed networks`] : networks;
  return joined([...wordsOf(allowed), ...listed]);
}

/** Description of the allowed clients for a public page, which does not reveal the networks themselves. */
export function whoMayAskInPublic(allowed: readonly string[]): string {
  if (isOpenToAnyone(allowed)) return 'anyone';
  const isListing = allowed.some((entry) => !isWord(entry));
  return joined([...wordsOf(allowed), ...(isListing ? ['networks of the configuration'] : [])]);
}

function isWord(entry: string): boolean {
  return entry === 'private' || entry === 'connected';
}

function wordsOf(allowed: readonly string[]): string[] {
  const words = ['private', 'connected'].filter((word) => allowed.includes(word));
  return words.length === 0 ? [] : [`${words.join(' and ')} networks`];
}

function joined(parts: readonly string[]): string {
  if (parts.length === 0) return 'only this machine and clients with a key';
  return parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
