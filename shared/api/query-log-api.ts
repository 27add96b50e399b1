/** Requests and answers of `{api}/queries`. */
import { z } from 'zod';
import { Rcode, rrTypeCode } from '../dns/iana.ts';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES, QUERY_STATUS_NAMES } from '../query-log.ts';
import { Id, MAX_ID, optionalQueryInt, Page, pageOf, Period, text, Timestamp } from './fields.ts';

const Status = z.enum(QUERY_STATUS_NAMES);
const Protocol = z.enum(PROTOCOL_NAMES);
const Dnssec = z.enum(DNSSEC_STATUS_NAMES);

/** Start or end of the period, with any offset. */
const Moment = z.iso.datetime({ offset: true });

const TypeName = z
  .string()
  .refine((value) => rrTypeCode(value) !== undefined, 'expected a type such as A, HTTPS or TYPE65');
const RcodeText = z
  .string()
  .refine((value) => isRcode(value.toUpperCase()), 'expected an rcode such as NXDOMAIN or RCODE23');

/** Filters of the log; all conditions must hold. */
export const QueryLogQuery = Page.extend({
  cursor: text(200)
    .min(1)
    .optional()
    .meta({ description: 'next_cursor of the page before; replaces offset' }),
  period: Period.optional(),
  from: Moment.optional().meta({ description: 'inclusive' }),
  to: Moment.optional().meta({ description: 'exclusive' }),
  domain: text(255).min(1).optional().meta({ description: 'part of the queried name' }),
  client: z
    .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'expected an IP address or a network in CIDR')
    .optional(),
  group_id: optionalQueryInt(1, MAX_ID),
  type: TypeName.optional(),
  status: Status.optional(),
  rcode: RcodeText.optional(),
  protocol: Protocol.optional(),
  upstream: text(300).min(1).optional(),
  dnssec: Dnssec.optional(),
  node: text(255).min(1).optional(),
});
export type QueryLogQuery = z.output<typeof QueryLogQuery>;

/** One answered query. */
export const LoggedQuery = z
  .strictObject({
    id: z.int().min(1),
    timestamp: Timestamp,
    node: z.string(),
    client: z.string(),
    client_hostname: z.string().nullable(),
    group_id: Id,
    domain: z.string(),
    type: z.string(),
    protocol: Protocol,
    status: Status,
    block_source: z.string().nullable().meta({
      description: 'name of the list, managed domain, filter, service or schedule profile that blocked it',
    }),
    block_rule: z.string().nullable().meta({ description: 'the rule as its author would write it' }),
    rcode: z.string(),
    response_time_us: z.int().min(0),
    cached: z.boolean(),
    upstream: z.string().nullable(),
    dnssec_status: Dnssec,
    answers: z
      .array(z.strictObject({ name: z.string(), type: z.string(), ttl: z.int(), data: z.string() }))
      .nullable(),
  })
  .meta({ id: 'LoggedQuery' });
export type LoggedQuery = z.infer<typeof LoggedQuery>;

export const QueryLogPage = pageOf(LoggedQuery).meta({ id: 'QueryLogPage' });
export type QueryLogPage = z.infer<typeof QueryLogPage>;

function isRcode(name: string): boolean {
  return Object.hasOwn(Rcode, name) || /^RCODE\d{1,4}$/.test(name);
}
