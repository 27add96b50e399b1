/** Applies `database.query_log_privacy` to the log before anything is written. */
import type { StoredParts } from '../block/open-block.ts';

/** Values of `database.query_log_privacy`; each has only the effect that its name describes. */
export type QueryLogPrivacy = 'full' | 'no_answers' | 'anonymous_clients' | 'off';

const WHOLE = { ipv4Bytes: 4, ipv6Bytes: 16, clientIds: true } as const;

/** `anonymous_clients` keeps the /24 of an IPv4 address or the /48 of an IPv6 address, and no client ids. */
const KEPT: Readonly<Record<Exclude<QueryLogPrivacy, 'off'>, StoredParts>> = {
  full: { ...WHOLE, answers: true },
  no_answers: { ...WHOLE, answers: false },
  anonymous_clients: { ipv4Bytes: 3, ipv6Bytes: 6, answers: true, clientIds: false },
};

/** Parts of a query that may be stored. */
export function keptOf(privacy: Exclude<QueryLogPrivacy, 'off'>): StoredParts {
  return KEPT[privacy];
}
