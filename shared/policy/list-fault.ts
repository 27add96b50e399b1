/**
 * The kind of fault because of which a list could not be used, recognized by the texts that
 * `control-plane/lists/fetch/` and the parser write. Pages show a message for each fault in the user's language instead
 * of the English log line.
 */

/** Faults and the texts that identify their reasons; the first match is used. */
const REASONS = [
  ['unknown_host', /host name does not exist|has no address/],
  ['lookup', /host name could not be resolved/],
  ['refused', /refused the connection/],
  ['timeout', /no connection after|no data for|not finished after|did not answer/],
  ['unreachable', /cannot be reached|no address to connect from/],
  ['closed', /closed the connection|connection was closed/],
  ['certificate', /certificate/],
  ['protocol', /violates the HTTP protocol|no TLS version|header of the response/],
  ['not_found', /the server answered (404|410)$/],
  ['status', /the server answered (\d{3})/],
  ['redirects', /redirect/],
  ['web_page', /HTML or XML page/],
  ['empty', /the list is empty|it contains no rules/],
  ['no_rules', /none of its \d+ rules can be used/],
  ['not_a_list', /UTF-16|is binary|encoding "|compressed data/],
  ['too_large', /larger than \d+ bytes|more than \d+ lines/],
  ['private_address', /is local, and neither|is link-local/],
  ['own_port', /is a port of Weir/],
  ['folder', /not in a directory of blocking\.list_dirs/],
  ['no_file', /no such file|not an ordinary file/],
  ['bad_url', /is not a URL|over http, https and file only|expected an http:, https: or file: URL/],
  ['taken', /already exists$/],
  ['disk', /disk|file system|permission denied|directory does not exist/],
] as const;

/** Kinds of faults. */
export type ListFault = (typeof REASONS)[number][0];

/** A fault with the HTTP status of the response, 0 = none. */
export interface ReadListFault {
  readonly fault: ListFault;
  readonly status: number;
}

/**
 * The start of a message: the action and the address or file, which the page omits because users have just entered
 * them.
 */
const ACTION = /^could not (?:fetch|read|store) (?:the list|[a-z]+:(?: URL|\S*)|\/\S*): /;
/** Start of a message about a list; messages with another start could match a fault by coincidence. */
const OF_LIST =
  /^could not (?:fetch|read|store) (?:the list|[a-z]+:|\/)|^a source with the URL |an http:, https: or file: URL$/;

/** The fault of a message about a list; null for other messages, and for messages whose fault is not in the table. */
export function readListFault(message: string): ReadListFault | null {
  if (!OF_LIST.test(message)) return null;
  const reason = withoutAction(message);
  for (const [fault, pattern] of REASONS) {
    const match = pattern.exec(reason);
    if (match !== null) return { fault, status: Number(match[1] ?? 0) };
  }
  return null;
}

/** A reason without the action and the address. */
export function withoutAction(message: string): string {
  return message.replace(ACTION, '');
}
