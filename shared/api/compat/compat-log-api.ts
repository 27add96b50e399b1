/** Responses of the compatibility API about the log: by time, top lists, upstreams, single queries. */
import { z } from 'zod';
import { body, COMPAT_REPLIES, COMPAT_STATUSES, Count, Percent } from './compat-api.ts';

const TopTotals = { total_queries: Count, blocked_queries: Count };
/** Unix seconds in the middle of a ten-minute slot. */
const SlotTime = z.int().min(0);

export const CompatHistory = body({
  history: z.array(
    z.strictObject({ timestamp: SlotTime, total: Count, cached: Count, blocked: Count, forwarded: Count }),
  ),
});
export type CompatHistory = z.infer<typeof CompatHistory>;

/** Clients by address, and `others`. */
export const CompatClientHistory = body({
  history: z.array(z.strictObject({ timestamp: SlotTime, data: z.record(z.string(), Count) })),
  clients: z.record(z.string(), z.strictObject({ name: z.string().nullable(), total: Count })),
});
export type CompatClientHistory = z.infer<typeof CompatClientHistory>;

export const CompatTopDomains = body({
  domains: z.array(z.strictObject({ domain: z.string(), count: Count })),
  ...TopTotals,
});
export type CompatTopDomains = z.infer<typeof CompatTopDomains>;

export const CompatTopClients = body({
  clients: z.array(z.strictObject({ name: z.string(), ip: z.string(), count: Count })),
  ...TopTotals,
});
export type CompatTopClients = z.infer<typeof CompatTopClients>;

export const CompatRecentBlocked = body({ blocked: z.array(z.string()) });

/** The first two entries are blocked and cached queries, with port -1. */
export const CompatUpstreams = body({
  upstreams: z.array(
    z.strictObject({
      ip: z.string(),
      name: z.string(),
      port: z.int().min(-1).max(65_535),
      count: Count,
      statistics: z.strictObject({ response: z.number().min(0), variance: z.number().min(0) }),
    }),
  ),
  total_queries: Count,
  forwarded_queries: Count,
});
export type CompatUpstreams = z.infer<typeof CompatUpstreams>;

export const CompatDatabaseSummary = body({
  sum_queries: Count,
  sum_blocked: Count,
  percent_blocked: Percent,
  total_clients: Count,
});
export type CompatDatabaseSummary = z.infer<typeof CompatDatabaseSummary>;

/** Results of DNSSEC validation. */
export const COMPAT_DNSSEC = ['UNKNOWN', 'SECURE', 'INSECURE', 'BOGUS', 'ABANDONED', 'TRUNCATED'] as const;
export type CompatDnssec = (typeof COMPAT_DNSSEC)[number];

export const CompatQuery = z.strictObject({
  id: z.int().min(1),
  time: z.number().min(0),
  type: z.string(),
  status: z.enum(COMPAT_STATUSES),
  dnssec: z.enum(COMPAT_DNSSEC),
  domain: z.string(),
  upstream: z.string().nullable(),
  reply: z.strictObject({ type: z.enum(COMPAT_REPLIES), time: z.number().min(0) }),
  client: z.strictObject({ ip: z.string(), name: z.string().nullable() }),
  list_id: z.int().min(1).nullable(),
  /** INFO-CODE of the Extended DNS Error (RFC 8914); -1 = none. */
  ede: z.strictObject({ code: z.int().min(-1), text: z.string().nullable() }),
  cname: z.string().nullable(),
});
export type CompatQuery = z.infer<typeof CompatQuery>;

export const CompatQueries = body({
  queries: z.array(CompatQuery),
  cursor: z.int().min(0),
  recordsTotal: Count,
  recordsFiltered: Count,
  draw: z.int(),
});
export type CompatQueries = z.infer<typeof CompatQueries>;
