/** Counters of a thread's answers, in the slots after those of `Counter`. */
import { RRType } from '../dns/iana.ts';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES } from '../query-log.ts';
import { SINGLE_SLOTS } from './counters.ts';

/** Slots for the statuses of one protocol; a power of two with space for future statuses. */
export const STATUS_SLOTS = 32;
/**
 * Classes of response times: class k contains the times below 2^k us that are not in a lower class; the last class also
 * contains all longer times. 2^24 us are 17 s, longer than any query may take.
 */
export const LATENCY_CLASSES = 25;

/** Source of an answer: the cache, an upstream server that was queried for it, or Weir (records, blocks, refusals). */
export const ANSWER_SOURCES = ['cache', 'upstream', 'local'] as const;
export const AnswerSource = { CACHE: 0, UPSTREAM: 1, LOCAL: 2 } as const;
export type AnswerSourceCode = (typeof AnswerSource)[keyof typeof AnswerSource];

/** Events that a rate limit counts for each client network: queries, or NXDOMAIN answers. */
export const LIMIT_REASONS = ['questions', 'nxdomain'] as const;
/** The index of a limit reason plus one; 0 = no limit. */
export const LimitReason = { NONE: 0, QUESTIONS: 1, NXDOMAIN: 2 } as const;
export type LimitReasonCode = (typeof LimitReason)[keyof typeof LimitReason];

/**
 * Number of slots for response codes: the codes up to BADCOOKIE, each at its own number, then `NODATA_SLOT` and
 * `OTHER_RCODE_SLOT`.
 */
const RCODE_SLOTS = 26;
/** NOERROR without an answer record: a pseudo response code (RFC 2308 section 1). */
export const NODATA_SLOT = 24;
/** Slot for all codes without their own slot. */
export const OTHER_RCODE_SLOT = 25;

/** Types with their own counters; all other types share one counter after them. */
export const COUNTED_TYPES = [
  ...['A', 'AAAA', 'HTTPS', 'SVCB', 'PTR', 'CNAME', 'NS', 'SOA', 'MX', 'TXT', 'SRV'],
  ...['NAPTR', 'CAA', 'DS', 'DNSKEY', 'TLSA', 'ANY'],
] as readonly (keyof typeof RRType)[];
/** Index in `COUNTED_TYPES` by type; types beyond this array count as other types. */
const TYPE_PLACES = new Uint8Array(512).fill(COUNTED_TYPES.length);
for (const [place, name] of COUNTED_TYPES.entries()) TYPE_PLACES[RRType[name]] = place;

const FIRST_ANSWERED = SINGLE_SLOTS;
/**
 * First slot of the response times. For each source: a slot for the sum of response times in microseconds, then a slot
 * per class.
 */
const FIRST_TIME = FIRST_ANSWERED + PROTOCOL_NAMES.length * STATUS_SLOTS;
const TIME_SLOTS = 1 + LATENCY_CLASSES;
const FIRST_RCODE = FIRST_TIME + ANSWER_SOURCES.length * TIME_SLOTS;
const FIRST_TYPE = FIRST_RCODE + RCODE_SLOTS;
const FIRST_DNSSEC = FIRST_TYPE + COUNTED_TYPES.length + 1;
const FIRST_LIMITED = FIRST_DNSSEC + DNSSEC_STATUS_NAMES.length;

/** Size of a thread's counters in bytes. */
export const COUNTERS_BYTES = (FIRST_LIMITED + LIMIT_REASONS.length) * 8;

/** Slot of the queries with this protocol and status. */
export function answeredSlot(protocol: number, status: number): number {
  return FIRST_ANSWERED + protocol * STATUS_SLOTS + status;
}

/** Slot of the sum of the response times of answers from this source, in microseconds. */
export function timeSlot(source: number): number {
  return FIRST_TIME + source * TIME_SLOTS;
}

/** Slot of the answers from this source with this response time. */
export function latencySlot(source: number, responseTimeUs: number): number {
  return timeSlot(source) + 1 + latencyClass(responseTimeUs);
}

/** Class of a time in microseconds. */
export function latencyClass(us: number): number {
  const found = 32 - Math.clz32(us);
  return found < LATENCY_CLASSES ? found : LATENCY_CLASSES - 1;
}

/** Slot of the answers with this response code; `records` is the number of records in the answer section. */
export function rcodeSlot(rcode: number, records: number): number {
  if (rcode === 0 && records === 0) return FIRST_RCODE + NODATA_SLOT;
  return FIRST_RCODE + (rcode < NODATA_SLOT ? rcode : OTHER_RCODE_SLOT);
}

/** Slot of the queries of this type. */
export function typeSlot(type: number): number {
  return FIRST_TYPE + (type < TYPE_PLACES.length ? TYPE_PLACES[type]! : COUNTED_TYPES.length);
}

/** Slot of the answers with this `DnssecStatus`. */
export function dnssecSlot(dnssec: number): number {
  return FIRST_DNSSEC + dnssec;
}

/** Slot of the queries over this limit; not for NONE. */
export function limitSlot(reason: number): number {
  return FIRST_LIMITED + reason - 1;
}

/** Queries of a thread with this status, over all protocols. */
export function answeredWith(counters: Float64Array, status: number): number {
  return PROTOCOL_NAMES.reduce((sum, _name, protocol) => sum + counters[answeredSlot(protocol, status)]!, 0);
}
