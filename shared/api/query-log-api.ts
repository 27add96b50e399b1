/** Requests and responses of `{api}/queries`. */
import { z } from 'zod';
import { Rcode, rrTypeCode } from '../dns/iana.ts';
import {
  ANY_BLOCKED,
  DECISION_ORIGINS,
  DNSSEC_STATUS_NAMES,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
} from '../query-log.ts';
import {
  AddressOrNetwork,
  anyCase,
  Id,
  MAX_ID,
  NodeName,
  optionalQueryInt,
  Page,
  pageOf,
  Period,
  text,
  Timestamp,
} from './fields.ts';

const Status = z.enum(QUERY_STATUS_NAMES);
const StatusCondition = anyCase([ANY_BLOCKED, ...QUERY_STATUS_NAMES]);
const Protocol = z.enum(PROTOCOL_NAMES);
const Dnssec = z.enum(DNSSEC_STATUS_NAMES);

/** Start or end of the period, a time with any UTC offset. */
const Moment = z.iso.datetime({ offset: true });

const TypeName = z
  .string()
  .refine((value) => rrTypeCode(value) !== undefined, 'expected a type such as A, HTTPS or TYPE65');
/** A pseudo RCODE (RFC 2308 section 1): NODATA. */
export const NODATA = 'NODATA';
const RcodeText = z
  .string()
  .refine(
    (value) => isRcode(value.toUpperCase()),
    'expected an rcode such as NXDOMAIN or RCODE23, or NODATA',
  );

const conditions = {
  domain: text(255).min(1),
  client: AddressOrNetwork,
  client_id: optionalQueryInt(1, MAX_ID),
  group_id: optionalQueryInt(1, MAX_ID),
  type: TypeName,
  status: StatusCondition,
  rcode: RcodeText,
  protocol: anyCase(PROTOCOL_NAMES),
  upstream: text(300).min(1),
  dnssec: anyCase(DNSSEC_STATUS_NAMES),
  block_source: text(300).min(1),
  node: NodeName,
};

/** A condition that excludes rows. The name of its parameter ends in `!`: `?status!=CACHED` sets `status!`. */
function excluding<S extends z.ZodType>(condition: S) {
  return condition.optional().meta({ description: 'excludes matching rows; see the parameter without `!`' });
}

/** Filters of the log: rows must meet all conditions and none of the excluding ones. */
export const QueryLogFilters = z.object({
  period: Period.optional(),
  from: Moment.optional().meta({ description: 'start of the period, inclusive' }),
  to: Moment.optional().meta({ description: 'end of the period, exclusive' }),
  domain: conditions.domain
    .optional()
    .meta({ description: 'part of the queried name, in Unicode or as shown in the log' }),
  client: conditions.client.optional(),
  client_id: conditions.client_id.meta({
    description: 'id of a client of `/clients`: queries from all its addresses, and with its key',
  }),
  group_id: conditions.group_id,
  type: conditions.type.optional(),
  status: conditions.status
    .optional()
    .meta({ description: 'outcome of the query; BLOCKED selects every outcome that starts with BLOCKED' }),
  rcode: conditions.rcode.optional().meta({
    description:
      'rcode of the answer; NODATA selects NOERROR without an answer record, and NOERROR also includes ' +
      'these rows',
  }),
  protocol: conditions.protocol.optional(),
  upstream: conditions.upstream.optional().meta({
    description:
      'an upstream server; any form of its address is accepted: 192.0.2.53 also selects ' +
      'udp://192.0.2.53:53',
  }),
  dnssec: conditions.dnssec.optional(),
  block_source: conditions.block_source.optional().meta({
    description: 'name of the list, rule, service or schedule profile that blocked the query',
  }),
  node: conditions.node.optional(),
  'domain!': excluding(conditions.domain),
  'client!': excluding(conditions.client),
  'client_id!': excluding(conditions.client_id),
  'group_id!': excluding(conditions.group_id),
  'type!': excluding(conditions.type),
  'status!': excluding(conditions.status),
  'rcode!': excluding(conditions.rcode),
  'protocol!': excluding(conditions.protocol),
  'upstream!': excluding(conditions.upstream),
  'dnssec!': excluding(conditions.dnssec),
  'block_source!': excluding(conditions.block_source),
  'node!': excluding(conditions.node),
});
export type QueryLogFilters = z.output<typeof QueryLogFilters>;

/**
 * Maximum number of rows to skip. It is limited because the positions of all skipped rows are kept in memory until the
 * page is found.
 */
export const MAX_OFFSET = 100_000;

/** One page of the matching rows. */
export const QueryLogQuery = Page.extend({
  offset: Page.shape.offset.refine(
    (offset) => offset <= MAX_OFFSET,
    `expected at most ${MAX_OFFSET}; use cursor, or from and to, to go further`,
  ),
  cursor: text(200)
    .min(1)
    .optional()
    .meta({ description: 'next_cursor or prev_cursor of a page; replaces offset' }),
  ...QueryLogFilters.shape,
});
export type QueryLogQuery = z.output<typeof QueryLogQuery>;

/** Query parameters of an export: all matching rows. */
export const QueryLogExport = QueryLogFilters.extend({
  format: anyCase(['csv', 'ndjson', 'parquet']).default('csv'),
});
export type QueryLogExport = z.output<typeof QueryLogExport>;

/**
 * A logged query. Of the rate-limited queries of a client network in a second, only the first has a row, with the
 * number of the others.
 */
export const LoggedQuery = z
  .strictObject({
    id: z.int().min(1),
    timestamp: Timestamp,
    node: z.string(),
    client: z.string(),
    client_hostname: z.string().nullable().meta({
      description: 'name of the client that has the address now, or that identified itself by its key',
    }),
    group_id: Id,
    domain: z.string(),
    type: z.string(),
    protocol: Protocol,
    status: Status,
    block_source: z.string().nullable().meta({
      description:
        'name of the list, managed domain, filter, service or schedule profile that blocked the query',
    }),
    block_rule: z.string().nullable().meta({ description: 'the rule in the syntax of its source' }),
    rcode: z.string(),
    response_time_us: z.int().min(0),
    cached: z.boolean(),
    upstream: z.string().nullable(),
    dnssec_status: Dnssec,
    answers: z
      .array(z.strictObject({ name: z.string(), type: z.string(), ttl: z.int(), data: z.string() }))
      .nullable()
      .meta({ description: 'records of the answer; null = not stored; empty = the answer has no records' }),
    repeats: z
      .int()
      .min(0)
      .meta({
        description:
          'number of further queries that this row represents. Of the RATE_LIMITED queries of one client ' +
          'network (prefix lengths of dns.rate_limit) in one second, only the first has a row, or the first ' +
          'few if there are many; names, types and clients of the others may differ. Statistics count each ' +
          'query individually, except statistics by name',
      }),
    client_id: Id.nullable().meta({
      description: 'id of the client that identified itself by its key; null = identified by its address',
    }),
    block_alias: z.string().nullable().meta({
      description: 'for BLOCKED_CNAME: the name in the answer that the rule matches',
    }),
    answer_type: z.string().nullable().meta({
      description: 'type of the first record of the answer, even if answers are not stored; null = none',
    }),
    extended_error: z.int().min(0).max(65_535).nullable().meta({
      description: 'code of the extended DNS error (RFC 8914) in the answer',
    }),
    decision_origin: z.enum(DECISION_ORIGINS).nullable().meta({
      description:
        'for BLOCKED_CNAME: managed or regex if the rule is not in a list; for LOCAL: canary for names that programs query to decide whether to bypass this server',
    }),
  })
  .meta({ id: 'LoggedQuery' });
export type LoggedQuery = z.infer<typeof LoggedQuery>;

/** Path parameters of a row, whose ids can exceed those of other entities; the route parses the number. */
export const LoggedQueryParams = z.strictObject({
  id: z
    .string()
    .regex(/^\d{1,16}$/, 'expected an integer')
    .meta({ override: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } }),
});

/** A row of a query that was answered a moment ago, for the event stream. */
const TailedQuery = LoggedQuery.extend({
  id: LoggedQuery.shape.id.nullable().meta({
    description: 'id of the row; null until the database has assigned a number to this process of the node',
  }),
  repeats: LoggedQuery.shape.repeats.meta({
    description:
      '0 for rows of the node that sends the stream, because each row is sent before its second has ended',
  }),
}).meta({ id: 'TailedQuery' });

/** The data of one event of `/queries/stream`. */
export const QueryTailEvent = z
  .strictObject({
    rows: z.array(TailedQuery).meta({ description: 'new rows that match the filter' }),
    skipped: z
      .int()
      .min(0)
      .meta({
        description:
          'number of further new rows that are left out because there were too many; under heavy load some of ' +
          'them may not match the filter',
      }),
    nodes: z.enum(['all', 'own']).meta({
      description:
        'own: only rows of this node, because this node currently receives no rows from other nodes',
    }),
  })
  .meta({ id: 'QueryTailEvent' });

export type QueryTailEvent = z.infer<typeof QueryTailEvent>;

export const QueryLogPage = pageOf(LoggedQuery)
  .extend({
    total: z.int().min(0).meta({ description: 'number of rows on all pages' }),
    total_queries: z.int().min(0).meta({
      description:
        'number of queries that the rows on all pages represent: `total`, plus the `repeats` of all rows',
    }),
    prev_cursor: z
      .string()
      .nullable()
      .meta({
        description:
          'cursor of the page with the next newer rows, including rows that are stored later; null for an ' +
          'empty page without cursor',
      }),
    damaged_blocks: z.int().min(0).meta({
      description: 'number of damaged blocks of the log, whose rows are left out',
    }),
  })
  .meta({ id: 'QueryLogPage' });
export type QueryLogPage = z.infer<typeof QueryLogPage>;

function isRcode(name: string): boolean {
  return name === NODATA || Object.hasOwn(Rcode, name) || /^RCODE\d{1,4}$/.test(name);
}
