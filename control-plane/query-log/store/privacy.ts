/** What `database.query_log_privacy` permits in the log. Applied before anything is written. */

/** Values of `database.query_log_privacy`; each does what it says and nothing else. */
export type QueryLogPrivacy = 'full' | 'no_answers' | 'anonymous_clients' | 'off';

/** Bytes of an address that stay: IPv4 /24, IPv6 /48; the rest becomes zero. */
const KEPT_BYTES = { ipv4: 3, ipv6: 6 } as const;

/** How many leading bytes of a client's address may be stored. */
export function keptClientBytes(privacy: QueryLogPrivacy, addressBytes: 4 | 16): number {
  if (privacy !== 'anonymous_clients') return addressBytes;
  return addressBytes === 4 ? KEPT_BYTES.ipv4 : KEPT_BYTES.ipv6;
}

/** Whether answers may be stored. */
export function keepsAnswers(privacy: QueryLogPrivacy): boolean {
  return privacy !== 'no_answers';
}
