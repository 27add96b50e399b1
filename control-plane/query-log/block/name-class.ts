/** What became of a query, as lists of names tell it apart. */
import { isBlockedStatus, QueryStatus, type QueryStatusCode } from '../../../shared/query-log.ts';
import { NameClass } from './block-layout.ts';

const RESOLVED: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.CACHED, QueryStatus.STALE]);

/** `NameClass` of a status. */
export function nameClassOf(status: QueryStatusCode): number {
  if (isBlockedStatus(status)) return NameClass.BLOCKED;
  return RESOLVED.has(status) ? NameClass.RESOLVED : NameClass.OTHER;
}
