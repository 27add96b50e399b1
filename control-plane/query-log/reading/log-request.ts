/** Converts the filters of a request to search conditions. */
import { periodMs } from '../../../shared/api/fields.ts';
import { NODATA, type QueryLogFilters } from '../../../shared/api/query-log-api.ts';
import { ANY_BLOCKED, BLOCKED_STATUS_NAMES } from '../../../shared/query-log.ts';
import { invalid } from '../../api/api-error.ts';
import type { QueryConditions, QueryFilter } from '../search/query-conditions.ts';
import { periodStartMs } from './period-start.ts';

/** Filters for rows of the log; `from` is inclusive, `to` exclusive, null = open. */
export interface LogSelection extends QueryFilter {
  readonly node?: string | undefined;
  readonly notNode?: string | undefined;
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Configured clients that filters can refer to. */
export interface KnownClients {
  /** All known addresses of a client; undefined if the client does not exist. */
  placesOf(id: number): readonly string[] | undefined;
  /** Ids that the log has for queries in which this client identified itself by a key. */
  idsOf(id: number): readonly number[];
}

/**
 * The selection that the filters of a request describe. @throws {ApiError} 400 for conflicting times, and for an
 * unknown client
 */
export function selectionOf(filters: QueryLogFilters, nowMs: number, clients: KnownClients): LogSelection {
  const { period, from, to, node, 'node!': notNode } = filters;
  if (period !== undefined && from !== undefined)
    throw invalid([{ path: 'period', message: 'expected either period or from, not both' }]);
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw invalid([{ path: 'to', message: 'expected a time after from' }]);
  const startMs = period === undefined ? undefined : periodStartMs(nowMs, periodMs(period)!);
  const { domain, client, group_id, type, rcode, protocol, upstream, dnssec, block_source } = filters;
  const not = excludedBy(filters, clients);
  const isAnyExcluded = Object.values(not).some((value) => value !== undefined);
  return {
    domain,
    client,
    group_id,
    type,
    ...codeCondition(rcode),
    protocol,
    upstream,
    dnssec,
    block_source,
    node,
    notNode,
    device: deviceOf(filters.client_id, clients, 'client_id'),
    ...statusCondition(filters.status),
    ...(isAnyExcluded ? { not } : {}),
    from: toDate(startMs ?? from),
    to: toDate(to),
  };
}

function excludedBy(filters: QueryLogFilters, clients: KnownClients): QueryConditions {
  return {
    domain: filters['domain!'],
    client: filters['client!'],
    device: deviceOf(filters['client_id!'], clients, 'client_id!'),
    group_id: filters['group_id!'],
    type: filters['type!'],
    ...statusCondition(filters['status!']),
    ...codeCondition(filters['rcode!']),
    protocol: filters['protocol!'],
    upstream: filters['upstream!'],
    dnssec: filters['dnssec!'],
    block_source: filters['block_source!'],
  };
}

function deviceOf(id: number | undefined, clients: KnownClients, path: string): QueryConditions['device'] {
  if (id === undefined) return undefined;
  const addresses = clients.placesOf(id);
  if (addresses === undefined) throw invalid([{ path, message: 'expected the id of a client' }]);
  return { ids: clients.idsOf(id), addresses };
}

function codeCondition(rcode: string | undefined): Pick<QueryConditions, 'rcode' | 'reply'> {
  return rcode?.toUpperCase() === NODATA ? { reply: NODATA } : { rcode };
}

function statusCondition(status: QueryLogFilters['status']): Pick<QueryConditions, 'status' | 'statuses'> {
  return status === ANY_BLOCKED ? { statuses: BLOCKED_STATUS_NAMES } : { status };
}

function toDate(moment: string | number | undefined): Date | null {
  return moment === undefined ? null : new Date(moment);
}
