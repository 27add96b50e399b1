/**
 * Detects forwarding loops: finds queries for names that this node has sent only to an upstream. If a query for such a
 * name arrives, the upstream sends queries back to this node.
 */
import { loopTokenIn } from '../../../shared/dns/loop-name.ts';
import { addressToText } from '../../../shared/net/ip.ts';
import type { QueryLogRow } from '../../query-log/rows/row.ts';

/**
 * Maximum number of such queries per second that are reported; if there are more, a client is probably inventing names.
 */
const MAX_PER_SECOND = 32;

/**
 * Calls `report` with the token and the client of each query for such a name. The returned function is called for every
 * query of the node.
 */
export function watchLoops(report: (token: string, client: string) => void): (row: QueryLogRow) => void {
  let second = 0;
  let reported = 0;
  return ({ bytes, qname, client, timestampMs }) => {
    const token = loopTokenIn(bytes, qname.at, qname.length);
    if (token === null) return;
    const now = Math.floor(timestampMs / 1000);
    reported = now === second ? reported + 1 : 1;
    second = now;
    if (reported <= MAX_PER_SECOND) report(token, addressToText(bytes, client.at));
  };
}
