/** Requests and responses of `{api}/cache/*`. */
import { z } from 'zod';
import { rrTypeCode } from '../dns/iana.ts';
import { nameFromText } from '../dns/name.ts';
import { Page, Period, Timestamp, pageOf } from './fields.ts';

export const CacheStatsQuery = z.object({ period: Period.default('24h') });
export type CacheStatsQuery = z.output<typeof CacheStatsQuery>;

const Count = z.int().min(0);
const Percent = z.number().min(0).max(100);

/** Hits and misses of a period, from the query log; entries and refreshes of this node, now and since its start. */
export const CacheStats = z
  .strictObject({
    total_entries: Count,
    total_hits: Count,
    total_misses: Count,
    hit_rate: Percent,
    total_refreshes: Count,
  })
  .meta({ id: 'CacheStats' });
export type CacheStats = z.infer<typeof CacheStats>;

/** The cache of this node since its start. */
export const CacheMetrics = z
  .strictObject({
    entries: Count,
    bytes: Count,
    hits: Count,
    misses: Count,
    hit_rate: Percent,
    insertions: Count,
    evictions: Count,
    optimistic_refreshes: Count,
    stale_hits: Count,
    lazy_deletions: Count,
    compactions: Count,
  })
  .meta({ id: 'CacheMetrics' });
export type CacheMetrics = z.infer<typeof CacheMetrics>;

/** A name, or `*.NAME` for the name and its subdomains. */
const Domain = z
  .string()
  .refine(
    (value) => nameFromText(value.replace(/^\*\./, '')) !== null,
    'expected a domain name, or *. before one',
  );

/** A record type: a mnemonic such as `AAAA`, or a number such as `TYPE65280` (RFC 3597). */
const RecordType = z.string().refine((value) => rrTypeCode(value) !== undefined, 'expected a record type');

/** Conditions on cache entries; `{}` selects all entries. */
export const CacheEntryFilter = z.object({ domain: Domain.optional(), type: RecordType.optional() });
export type CacheEntryFilter = z.output<typeof CacheEntryFilter>;

export const CacheEntryQuery = Page.extend(CacheEntryFilter.shape);
export type CacheEntryQuery = z.output<typeof CacheEntryQuery>;

/** A cached answer. */
export const CacheEntryRow = z
  .strictObject({
    domain: z.string(),
    type: z.string(),
    rcode: z.string(),
    ttl_secs: Count.meta({
      description: 'remaining TTL in seconds; 0 = expired, but the entry may be served stale',
    }),
    stored_at: Timestamp,
    expires_at: Timestamp,
    stale_until: Timestamp,
    answers: Count.meta({ description: 'number of records in the answer section' }),
    bytes: Count,
    dnssec_status: z.enum(['unchecked', 'secure', 'insecure', 'bogus', 'indeterminate']),
    dnssec_ok: z.boolean().meta({ description: 'whether the answer is for queries with the DO bit' }),
    checking_disabled: z.boolean().meta({ description: 'whether the answer is for queries with the CD bit' }),
    in_use: z.boolean().meta({
      description: 'whether the entry has been used since it was stored; if so, eviction passes over it once',
    }),
  })
  .meta({ id: 'CacheEntry' });
export type CacheEntryRow = z.infer<typeof CacheEntryRow>;

export const CacheEntryPage = pageOf(CacheEntryRow);
export type CacheEntryPage = z.infer<typeof CacheEntryPage>;
