/** Applies `database.query_log_privacy` to the log before anything is written. */
import type { StoredParts } from '../block/open-block.ts';

/** Values of `database.query_log_privacy`; each has only the effect that its name describes. */
export type QueryLogPrivacy = 'full' | 'no_answers' | 'anonymous_clients' | 'off';

const WHOLE = { ipv4Bytes: 4, ipv6Bytes: 16, clientIds: true } as const;

/** Anonymous clients: IPv4 /24, IPv6 /48, and no ids of clients that identified themselves. */
const KEPT: Readonly<Record<Exclude<QueryLogPrivacy, 'off'>, StoredParts>> = {
  full: { ...WHOLE, answers: true },
  no_answers: { ...WHOLE, answers: false },
  anonymous_clients: { ipv4Bytes: 3, ipv6Bytes: 6, answers: true, clientIds: false },
};

/** Parts of a query that may be stored. */
export function keptOf(privacy: Exclude<QueryLogPrivacy, 'off'>): StoredParts {
  return KEPT[privacy];
}
