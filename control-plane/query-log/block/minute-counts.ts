/**
 * What a block adds to the counts of each of its minutes, so that statistics need not read blocks. Computed once, when
 * the block is sealed, and stored in the same transaction. Pure.
 */
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import type { OpenBlock } from './open-block.ts';

/** Microseconds of a minute. */
const MINUTE_US = 60_000_000;
const MINUTES_PER_HOUR = 60;

/** Cache misses: what neither the cache nor policy answered. */
const MISSES: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.SERVFAIL, QueryStatus.TIMEOUT]);

/** Counts of one minute. */
export interface MinuteCounts {
  /** Start, Unix milliseconds. */
  readonly minuteMs: number;
  readonly queries: number;
  readonly blocked: number;
  readonly cached: number;
  /** An upstream was asked. */
  readonly forwarded: number;
  readonly rateLimited: number;
  /**
   * Counts by `kind:value`: `type:28`, `status:CACHED`, `rcode:0`, `protocol:udp`, `dnssec:secure`, `source:NAME` (of what
   * blocked), `upstream:URL`, `group:1`, `group_blocked:1`, `latency:BUCKET` (see `latencyBucket()`), `cache:hits`,
   * `cache:misses`; and sums of response times in microseconds: `us:all`, `us:cached`, `us:forwarded`,
   * `upstream_us:URL`.
   */
  readonly counts: Readonly<Record<string, number>>;
}

/** Buckets of response times: four per doubling. */
const BUCKETS_PER_OCTAVE = 4;
/** Highest bucket: 2^32 microseconds. */
export const LAST_LATENCY_BUCKET = 32 * BUCKETS_PER_OCTAVE;

/** Buckets of the times that nearly all answers take. */
const SHORT_TIMES = Uint8Array.from({ length: 4096 }, (_, timeUs) => bucketOf(timeUs));

/** The bucket of a response time: 0 for 0 us, else the smallest `n` with 2^(n/4) >= the time. */
export function latencyBucket(timeUs: number): number {
  return timeUs < SHORT_TIMES.length ? SHORT_TIMES[timeUs]! : bucketOf(timeUs);
}

function bucketOf(timeUs: number): number {
  return timeUs <= 1 ? 0 : Math.ceil(Math.log2(timeUs) * BUCKETS_PER_OCTAVE - 1e-9);
}

/** Microseconds at the upper end of a bucket. */
export function latencyOfBucket(bucket: number): number {
  return 2 ** (bucket / BUCKETS_PER_OCTAVE);
}

/** Counts of every minute that has queries, in order. */
export function countMinutes(block: OpenBlock): MinuteCounts[] {
  const minutes: (MinuteTally | undefined)[] = Array.from({ length: MINUTES_PER_HOUR });
  const { times, rowCount } = block;
  const ruleOf = block.rulesOfNames();
  for (let from = 0, to = 0; from < rowCount; from = to) {
    const minute = Math.floor(times[from]! / MINUTE_US);
    const startUs = minute * MINUTE_US;
    while (to < rowCount && times[to]! >= startUs && times[to]! < startUs + MINUTE_US) to++;
    (minutes[minute] ??= new MinuteTally(block)).add(block, ruleOf, from, to);
  }
  const outcomes = block.headOutcomes();
  return minutes.flatMap((tally, minute) =>
    tally === undefined ? [] : [tally.counts(block, outcomes, (block.hourUs + minute * MINUTE_US) / 1000)],
  );
}

/** Counts by place in the block's dictionaries: few additions per query. */
class MinuteTally {
  private readonly queries: Uint32Array;
  private readonly timesUs: Float64Array;
  private readonly clients: Uint32Array;
  private readonly blockedClients: Uint32Array;
  /** By place of the rule plus one. */
  private readonly rules: Uint32Array;
  private readonly latency = new Uint32Array(LAST_LATENCY_BUCKET + 1);
  private readonly isBlocked: Uint8Array;

  constructor(block: OpenBlock) {
    this.queries = new Uint32Array(block.outcomeCount);
    this.timesUs = new Float64Array(block.outcomeCount);
    this.clients = new Uint32Array(block.clientCount);
    this.blockedClients = new Uint32Array(block.clientCount);
    this.rules = new Uint32Array(block.rules.head.length + 1);
    this.isBlocked = block.blockedOutcomes();
  }

  /** Adds the rows of [from, to). */
  add(block: OpenBlock, ruleOf: Uint16Array, from: number, to: number): void {
    const { queries, timesUs, clients, blockedClients, rules, latency, isBlocked } = this;
    const { outcomeOf, clientOf, responseTimes, nameOf } = block;
    for (let row = from; row < to; row++) {
      const outcome = outcomeOf[row]!;
      const timeUs = responseTimes[row]!;
      queries[outcome]!++;
      timesUs[outcome]! += timeUs;
      clients[clientOf[row]!]!++;
      latency[latencyBucket(timeUs)]!++;
      if (isBlocked[outcome] === 0) continue;
      blockedClients[clientOf[row]!]!++;
      rules[ruleOf[nameOf[row]!]!]!++;
    }
  }

  counts(block: OpenBlock, outcomes: ReturnType<OpenBlock['headOutcomes']>, minuteMs: number): MinuteCounts {
    const sums = new Sums();
    outcomes.forEach((outcome, place) => {
      const queries = this.queries[place]!;
      if (queries > 0) countOutcome(sums, outcome, queries, this.timesUs[place]!);
    });
    this.clients.forEach((queries, place) => {
      const group = block.groupOf(place);
      sums.add(`group:${group}`, queries);
      sums.add(`group_blocked:${group}`, this.blockedClients[place]!);
    });
    block.rules.head.forEach(([source], place) => sums.add(`source:${source}`, this.rules[place + 1]!));
    this.latency.forEach((queries, bucket) => sums.add(`latency:${bucket}`, queries));
    const { total, counts } = sums;
    return {
      minuteMs,
      queries: total.queries,
      blocked: total.blocked,
      cached: counts['cache:hits'] ?? 0,
      forwarded: total.forwarded,
      rateLimited: counts['status:RATE_LIMITED'] ?? 0,
      counts,
    };
  }
}

/** Counts by key; what is zero has no key. */
class Sums {
  readonly counts: Record<string, number> = Object.create(null) as Record<string, number>;
  readonly total = { queries: 0, blocked: 0, forwarded: 0 };

  add(key: string, value: number): void {
    if (value !== 0) this.counts[key] = (this.counts[key] ?? 0) + value;
  }
}

function countOutcome(
  sums: Sums,
  [qtype, status, rcode, protocol, dnssec, cached, upstream]: ReturnType<OpenBlock['headOutcomes']>[number],
  queries: number,
  timeUs: number,
): void {
  const code = QueryStatus[status];
  sums.total.queries += queries;
  if (isBlockedStatus(code)) sums.total.blocked += queries;
  if (upstream !== null) sums.total.forwarded += queries;
  sums.add(`type:${qtype}`, queries);
  sums.add(`status:${status}`, queries);
  sums.add(`rcode:${rcode}`, queries);
  sums.add(`protocol:${protocol}`, queries);
  sums.add(`dnssec:${dnssec}`, queries);
  sums.add('us:all', timeUs);
  if (cached) {
    sums.add('cache:hits', queries);
    sums.add('us:cached', timeUs);
  } else if (MISSES.has(code)) sums.add('cache:misses', queries);
  if (upstream === null) return;
  sums.add('us:forwarded', timeUs);
  sums.add(`upstream:${upstream}`, queries);
  sums.add(`upstream_us:${upstream}`, timeUs);
}
