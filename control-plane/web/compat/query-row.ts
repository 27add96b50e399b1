/** A row of the query log as shown by the compatibility API. Pure. */
import type { CompatReply } from '../../../shared/api/compat/compat-api.ts';
import type { CompatDnssec, CompatQuery } from '../../../shared/api/compat/compat-log-api.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { ExtendedError, rrTypeCode } from '../../../shared/dns/iana.ts';
import type { Decision, DnssecStatusName } from '../../../shared/query-log.ts';
import { replyKindOf } from '../../query-log/rows/reply-kind.ts';
import { rcodeFromName } from '../../query-log/search/query-conditions.ts';
import { compatStatus, compatType } from './query-kinds.ts';
import { placeText, upstreamPlace } from './upstream-place.ts';

const DNSSEC_OF: Readonly<Record<DnssecStatusName, CompatDnssec>> = {
  unchecked: 'UNKNOWN',
  secure: 'SECURE',
  insecure: 'INSECURE',
  bogus: 'BOGUS',
  indeterminate: 'ABANDONED',
};

/** Ids by the names in the log. */
export interface ListIds {
  list(name: string): number | undefined;
  managed(name: string): number | undefined;
  regex(name: string): number | undefined;
}

/** The row; `id` is from `orderedIds()`. */
export function compatQuery(row: LoggedQuery, id: number, ids: ListIds): CompatQuery {
  return {
    id,
    time: Date.parse(row.timestamp) / 1000,
    type: compatType(row.type) === 'OTHER' ? `TYPE${String(rrTypeCode(row.type))}` : row.type,
    status: compatStatus(decisionOf(row)),
    dnssec: DNSSEC_OF[row.dnssec_status],
    domain: row.domain,
    // The log also names the original server of a cached answer.
    upstream: row.upstream === null || row.cached ? null : placeText(upstreamPlace(row.upstream)),
    reply: { type: replyOf(row), time: row.response_time_us / 1e6 },
    client: { ip: row.client, name: row.client_hostname },
    list_id: listIdOf(row, ids),
    ede: { code: row.extended_error ?? -1, text: edeText(row.extended_error) },
    cname: row.block_alias,
  };
}

/** The name of the DNSSEC status in Weir; undefined for a status that Weir does not have. */
export function dnssecOf(name: CompatDnssec): DnssecStatusName | undefined {
  const names = Object.keys(DNSSEC_OF) as DnssecStatusName[];
  return names.find((own) => DNSSEC_OF[own] === name);
}

/** The kind of the reply, by the same rule as in the counts of the log. */
function replyOf({ rcode, answers, answer_type: answerType }: LoggedQuery): CompatReply {
  const type = answerType === null ? (answers === null ? undefined : 0) : rrTypeCode(answerType);
  return replyKindOf(rcodeFromName(rcode)!, type);
}

function decisionOf({ status, decision_origin: origin }: LoggedQuery): Decision {
  return origin === null ? status : (`${status}:${origin}` as Decision);
}

/** The list, managed domain or filter that decided, if it still exists. */
function listIdOf(
  { status, decision_origin: origin, block_source: source }: LoggedQuery,
  ids: ListIds,
): number | null {
  if (source === null) return null;
  if (status === 'BLOCKED_MANAGED' || origin === 'managed') return ids.managed(source) ?? null;
  if (status === 'BLOCKED_REGEX' || origin === 'regex') return ids.regex(source) ?? null;
  return status === 'BLOCKED_LIST' || status === 'BLOCKED_CNAME' ? (ids.list(source) ?? null) : null;
}

const EDE_TEXTS: ReadonlyMap<number, string> = new Map(
  Object.entries(ExtendedError).map(([name, code]) => [code, name.toLowerCase().replaceAll('_', ' ')]),
);

function edeText(code: number | null): string | null {
  return code === null ? null : (EDE_TEXTS.get(code) ?? null);
}

/** No row is older than this time; ids that are counted from here are safe integers until 2054. */
const EPOCH_MS = Date.UTC(2020, 0);
/** Number of ids per millisecond. Rows of one run have consecutive numbers, so their ids differ. */
const IDS_PER_MS = 8192;

/** The id of a row; in rare cases, rows of two nodes in one millisecond have the same id. */
export function orderedId({ id, timestamp }: Pick<LoggedQuery, 'id' | 'timestamp'>): number {
  return (Date.parse(timestamp) - EPOCH_MS) * IDS_PER_MS + (id % IDS_PER_MS);
}

/** The highest id that a current row may have. */
export function cursorAt(nowMs: number): number {
  return (Math.floor(nowMs) - EPOCH_MS + 1) * IDS_PER_MS - 1;
}

/** Unix milliseconds before which all rows up to a cursor were logged. */
export function timeOfCursor(cursor: number): number {
  return Math.floor(cursor / IDS_PER_MS) + EPOCH_MS + 1;
}
