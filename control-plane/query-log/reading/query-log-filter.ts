/** Turns the API's filters of the query log into SQL. Pure. */
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import { rcodeFromName } from './stored-codes.ts';
import type { DnssecStatusName, ProtocolName, QueryStatusName } from '../../../shared/query-log.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../../shared/query-log.ts';

/** All conditions must hold; an absent one matches everything. */
export interface QueryLogFilter {
  /** Part of the queried name, any case. */
  readonly domain?: string | undefined;
  /** Address, or CIDR of many. */
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
  /** `A`, `TYPE65280`. */
  readonly type?: string | undefined;
  readonly status?: QueryStatusName | undefined;
  /** `NXDOMAIN`, `RCODE17`. */
  readonly rcode?: string | undefined;
  readonly protocol?: ProtocolName | undefined;
  readonly upstream?: string | undefined;
  readonly dnssec?: DnssecStatusName | undefined;
  readonly node?: string | undefined;
}

/** SQL that refers to its values as `$1` and on. */
export interface SqlCondition {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The conditions as one expression over `query_log`; `TRUE` when there are none. */
export function filterToSql(filter: QueryLogFilter): SqlCondition {
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown, condition: (parameter: string) => string): void => {
    if (value === undefined) return;
    values.push(value);
    parts.push(condition(`$${values.length}`));
  };
  // strpos and not LIKE: `%` and `_` are ordinary characters of a name.
  add(filter.domain?.toLowerCase(), (p) => `strpos(domain, ${p}::text) > 0`);
  add(filter.client, (p) => `client <<= ${p}::inet`);
  add(filter.group_id, (p) => `group_id = ${p}::integer`);
  add(typeToStored(filter.type), (p) => `type = ${p}::smallint`);
  add(filter.status && QueryStatus[filter.status], (p) => `status = ${p}::smallint`);
  add(filter.rcode === undefined ? undefined : rcodeFromName(filter.rcode), (p) => `rcode = ${p}::smallint`);
  add(filter.protocol && Protocol[filter.protocol], (p) => `protocol = ${p}::smallint`);
  add(filter.upstream, (p) => `upstream = ${p}::text`);
  add(filter.dnssec && DnssecStatus[filter.dnssec], (p) => `dnssec = ${p}::smallint`);
  add(filter.node, (p) => `node_id = (SELECT id FROM nodes WHERE name = ${p}::text)`);
  return { text: parts.length > 0 ? parts.join(' AND ') : 'TRUE', values };
}

/** The signed 16-bit number that stands for a type; null, which equals nothing, for an unknown type. */
function typeToStored(name: string | undefined): number | null | undefined {
  if (name === undefined) return undefined;
  const code = rrTypeCode(name);
  return code === undefined ? null : (code << 16) >> 16;
}
