/**
 * Responses of the compatibility API, which follows version 6 of the API of Pi-hole. The schemas are strict, because
 * the checker of Pi-hole's clients reports unknown properties. Each body ends with `took`, the seconds that the request
 * took.
 */
import { z } from 'zod';

export const Count = z.int().min(0);
const Seconds = z.number().min(0);
export const Percent = z.number().min(0).max(100);

/** A body with these members. */
export function body<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ ...shape, took: Seconds });
}

/** Body without `took`, as a handler returns it. */
export type Untimed<Body> = Omit<Body, 'took'>;

function counts<const Name extends string>(names: readonly Name[]) {
  const shape = Object.fromEntries(names.map((name) => [name, Count])) as Record<Name, typeof Count>;
  return z.strictObject(shape);
}

/** Types of queries by name; the rest is OTHER. */
export const COMPAT_TYPES = [
  'A',
  'AAAA',
  'ANY',
  'SRV',
  'SOA',
  'PTR',
  'TXT',
  'NAPTR',
  'MX',
  'DS',
  'RRSIG',
  'DNSKEY',
  'NS',
  'SVCB',
  'HTTPS',
  'OTHER',
] as const;
export type CompatType = (typeof COMPAT_TYPES)[number];

/** Outcome of a query. */
export const COMPAT_STATUSES = [
  'UNKNOWN',
  'GRAVITY',
  'FORWARDED',
  'CACHE',
  'REGEX',
  'DENYLIST',
  'EXTERNAL_BLOCKED_IP',
  'EXTERNAL_BLOCKED_NULL',
  'EXTERNAL_BLOCKED_NXRA',
  'GRAVITY_CNAME',
  'REGEX_CNAME',
  'DENYLIST_CNAME',
  'RETRIED',
  'RETRIED_DNSSEC',
  'IN_PROGRESS',
  'DBBUSY',
  'SPECIAL_DOMAIN',
  'CACHE_STALE',
  'EXTERNAL_BLOCKED_EDE15',
] as const;
export type CompatStatus = (typeof COMPAT_STATUSES)[number];

/** Kind of an answer to a DNS query. */
export const COMPAT_REPLIES = [
  'UNKNOWN',
  'NODATA',
  'NXDOMAIN',
  'CNAME',
  'IP',
  'DOMAIN',
  'RRNAME',
  'SERVFAIL',
  'REFUSED',
  'NOTIMP',
  'OTHER',
  'DNSSEC',
  'NONE',
  'BLOB',
] as const;
export type CompatReply = (typeof COMPAT_REPLIES)[number];

export const CompatError = body({
  error: z.strictObject({ key: z.string().min(1), message: z.string().min(1), hint: z.string().nullable() }),
});
export type CompatError = z.infer<typeof CompatError>;

const SessionFields = {
  valid: z.boolean(),
  totp: z.boolean(),
  sid: z.string().min(1).nullable(),
  validity: z.int().min(-1),
  message: z.string().min(1),
};

/** A session, or the reason why there is none. */
export const CompatSession = body({
  session: z.union([
    z.strictObject({
      ...SessionFields,
      valid: z.literal(true),
      csrf: z.string().min(1),
      validity: z.int().min(1),
    }),
    z.strictObject({ ...SessionFields, sid: z.null(), validity: z.literal(-1) }),
  ]),
});
export type CompatSession = z.infer<typeof CompatSession>;

const Types = counts(COMPAT_TYPES);

export const CompatSummary = body({
  queries: z.strictObject({
    total: Count,
    blocked: Count,
    percent_blocked: Percent,
    unique_domains: Count,
    forwarded: Count,
    cached: Count,
    frequency: z.number().min(0),
    types: Types,
    status: counts(COMPAT_STATUSES),
    replies: counts(COMPAT_REPLIES),
  }),
  clients: z.strictObject({ active: Count, total: Count }),
  gravity: z.strictObject({ domains_being_blocked: Count, last_update: Count }),
});
export type CompatSummary = z.infer<typeof CompatSummary>;

export const CompatQueryTypes = body({ types: Types });
export type CompatQueryTypes = z.infer<typeof CompatQueryTypes>;
