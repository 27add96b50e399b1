/**
 * Counts that a block adds to each of its minutes, so that statistics need not read blocks. Computed once, when the
 * block is sealed, and stored in the same transaction. Pure.
 */
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import type { HeadOutcome, HeadRule } from './block-layout.ts';
import { replyKindOf } from '../rows/reply-kind.ts';
import type { OpenBlock } from './open-block.ts';
import type { OpenRepeats } from './open-repeats.ts';

/** Microseconds per minute. */
export const MINUTE_US = 60_000_000;
const MINUTES_PER_HOUR = 60;

/** Cache misses: answered neither from the cache nor by policy. */
const MISSES: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.SERVFAIL, QueryStatus.TIMEOUT]);

/** Counts of one minute. */
export interface MinuteCounts {
  /** Start, Unix milliseconds. */
  readonly minuteMs: number;
  readonly queries: number;
  /**
   * A query counts as at most one of blocked, cached and forwarded: if an alias in its answer is blocked, it counts
   * only as blocked.
   */
  readonly blocked: number;
  readonly cached: number;
  /** Queries that waited for the response of an upstream. */
  readonly forwarded: number;
  readonly rateLimited: number;
  /**
   * Counts by `kind:value`: `type:28`, `status:CACHED`, `rcode:0`, `reply:IP` (see `replyKindOf()`),
   * `decision:LOCAL:canary` (of statuses with an origin), `protocol:udp`, `dnssec:secure`, `source:NAME` (list, filter
   * or service that blocked the query), `service:NAME` (service that blocked it), `list:ID` (each list that contains
   * the blocking rule) and `sole_list:ID` (the list, if no other contains that rule), `upstream:URL`, `group:1`,
   * `group_blocked:1`, `latency:BUCKET` (see `latencyBucket()`), `cache:hits`, `cache:misses`, `repeats:RATE_LIMITED`
   * (queries without their own row), `excluded:log` (queries that are counted, but not in the log) and
   * `excluded:statistics` (queries in the log that are counted nowhere else); and sums of response times in
   * microseconds: `us:all`, `us:cached`, `us:forwarded`, `upstream_us:URL`.
   */
  readonly counts: Readonly<Record<string, number>>;
}

/** Buckets per doubling of the response time. */
const BUCKETS_PER_OCTAVE = 4;
/** Highest bucket: 2^32 microseconds. */
export const LAST_LATENCY_BUCKET = 32 * BUCKETS_PER_OCTAVE;

/** Precomputed buckets of short response times, which almost all answers have. */
const SHORT_TIMES = Uint8Array.from({ length: 4096 }, (_, timeUs) => bucketOf(timeUs));

/** The bucket of a response time: 0 for 0 us, for others the smallest `n` with 2^(n/4) >= the time. */
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
  // Repeats belong to the same second as their rows, and so to the same minute.
  for (let index = 0; index < (block.repeats?.count ?? 0); index++)
    minutes[Math.floor(times[block.repeats!.rowOf[index]!]! / MINUTE_US)]!.addRepeat(block.repeats!, index);
  const outcomes = { rows: block.outcomes.head(), repeats: block.repeats?.outcomes.head() ?? [] };
  return minutes.flatMap((tally, minute) =>
    tally === undefined ? [] : [tally.counts(block, outcomes, (block.hourUs + minute * MINUTE_US) / 1000)],
  );
}

/** Counts of a minute whose queries are not in the log. */
export function notLogged(minute: MinuteCounts): MinuteCounts {
  return { ...minute, counts: { ...minute.counts, 'excluded:log': minute.queries } };
}

/** For queries that are excluded from statistics, keeps only their number. */
export function notCounted({ minuteMs, queries }: MinuteCounts): MinuteCounts {
  const nothing = { queries: 0, blocked: 0, cached: 0, forwarded: 0, rateLimited: 0 };
  return { minuteMs, ...nothing, counts: { 'excluded:statistics': queries } };
}

/** Outcomes of a block, by index. */
interface Outcomes {
  readonly rows: readonly HeadOutcome[];
  readonly repeats: readonly HeadOutcome[];
}

/** Number of queries and sum of their response times, by outcome. */
class OutcomeTally {
  readonly queries: Uint32Array;
  readonly timesUs: Float64Array;

  constructor(outcomeCount: number) {
    this.queries = new Uint32Array(outcomeCount);
    this.timesUs = new Float64Array(outcomeCount);
  }

  addTo(sums: Sums, outcomes: readonly HeadOutcome[]): void {
    outcomes.forEach((outcome, place) => {
      const queries = this.queries[place]!;
      if (queries > 0) countOutcome(sums, outcome, queries, this.timesUs[place]!);
    });
  }
}

/** Counts of one minute by index in the block's dictionaries, so that a query costs only a few additions. */
class MinuteTally {
  private readonly outcomes: OutcomeTally;
  private readonly repeats: OutcomeTally;
  private readonly clients: Uint32Array;
  private readonly blockedClients: Uint32Array;
  /** Counts by the index of the rule plus one. */
  private readonly rules: Uint32Array;
  /** Counts by the index of the rule plus one, only of queries that a service blocked. */
  private readonly services: Uint32Array;
  private readonly latency = new Uint32Array(LAST_LATENCY_BUCKET + 1);
  private readonly isBlocked: Uint8Array;
  private readonly isByService: Uint8Array;

  constructor(block: OpenBlock) {
    this.outcomes = new OutcomeTally(block.outcomes.size);
    this.repeats = new OutcomeTally(block.repeats?.outcomes.size ?? 0);
    this.clients = new Uint32Array(block.clients.size);
    this.blockedClients = new Uint32Array(block.clients.size);
    this.rules = new Uint32Array(block.rules.head.length + 1);
    this.services = new Uint32Array(block.rules.head.length + 1);
    this.isBlocked = block.outcomes.blocked();
    this.isByService = block.outcomes.withStatus(QueryStatus.BLOCKED_SERVICE);
  }

  /** Adds the rows in [from, to). */
  add(block: OpenBlock, ruleOf: Uint16Array, from: number, to: number): void {
    const { clients, blockedClients, rules, services, latency, isBlocked, isByService } = this;
    const { queries, timesUs } = this.outcomes;
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
      const rule = ruleOf[nameOf[row]!]!;
      rules[rule]!++;
      services[rule]! += isByService[outcome]!;
    }
  }

  /** Adds a repeat: a query without a row. It was not blocked. */
  addRepeat({ outcomeOf, clientOf, responseTimes }: OpenRepeats, index: number): void {
    const { queries, timesUs } = this.repeats;
    const outcome = outcomeOf[index]!;
    const timeUs = responseTimes[index]!;
    queries[outcome]!++;
    timesUs[outcome]! += timeUs;
    this.clients[clientOf[index]!]!++;
    this.latency[latencyBucket(timeUs)]!++;
  }

  counts(block: OpenBlock, outcomes: Outcomes, minuteMs: number): MinuteCounts {
    const sums = new Sums();
    this.outcomes.addTo(sums, outcomes.rows);
    this.repeats.addTo(sums, outcomes.repeats);
    outcomes.repeats.forEach(([, status], place) =>
      sums.add(`repeats:${status}`, this.repeats.queries[place]!),
    );
    this.clients.forEach((queries, place) => {
      const group = block.clients.groupOf(place);
      sums.add(`group:${group}`, queries);
      sums.add(`group_blocked:${group}`, this.blockedClients[place]!);
    });
    block.rules.head.forEach((rule, place) => {
      countRule(sums, rule, this.rules[place + 1]!);
      sums.add(`service:${rule[0]}`, this.services[place + 1]!);
    });
    this.latency.forEach((queries, bucket) => sums.add(`latency:${bucket}`, queries));
    const { total, counts } = sums;
    return {
      minuteMs,
      queries: total.queries,
      blocked: total.blocked,
      cached: total.cached,
      forwarded: total.forwarded,
      rateLimited: counts['status:RATE_LIMITED'] ?? 0,
      counts,
    };
  }
}

/** Counts by key; zero counts have no key. */
class Sums {
  readonly counts: Record<string, number> = Object.create(null) as Record<string, number>;
  readonly total = { queries: 0, blocked: 0, cached: 0, forwarded: 0 };

  add(key: string, value: number): void {
    if (value !== 0) this.counts[key] = (this.counts[key] ?? 0) + value;
  }
}

function countRule(sums: Sums, [source, , , , lists = []]: HeadRule, queries: number): void {
  sums.add(`source:${source}`, queries);
  for (const list of lists) sums.add(`list:${list}`, queries);
  if (lists.length === 1) sums.add(`sole_list:${lists[0]}`, queries);
}

function countOutcome(
  sums: Sums,
  [qtype, status, rcode, protocol, dnssec, cached, upstream, , answerType, , origin]: HeadOutcome,
  queries: number,
  timeUs: number,
): void {
  const code = QueryStatus[status];
  sums.total.queries += queries;
  const isBlocked = isBlockedStatus(code);
  // A cached answer also has the name of an upstream, so `cached` must be checked.
  const isForwarded = upstream !== null && !cached && !isBlocked;
  if (isBlocked) sums.total.blocked += queries;
  else if (cached) sums.total.cached += queries;
  else if (isForwarded) sums.total.forwarded += queries;
  sums.add(`type:${qtype}`, queries);
  sums.add(`status:${status}`, queries);
  sums.add(`rcode:${rcode}`, queries);
  sums.add(`reply:${replyKindOf(rcode, answerType)}`, queries);
  if (origin !== undefined && origin !== null) sums.add(`decision:${status}:${origin}`, queries);
  sums.add(`protocol:${protocol}`, queries);
  sums.add(`dnssec:${dnssec}`, queries);
  sums.add('us:all', timeUs);
  if (cached) {
    sums.add('cache:hits', queries);
    if (!isBlocked) sums.add('us:cached', timeUs);
  } else if (MISSES.has(code)) sums.add('cache:misses', queries);
  if (!isForwarded) return;
  sums.add('us:forwarded', timeUs);
  sums.add(`upstream:${upstream}`, queries);
  sums.add(`upstream_us:${upstream}`, timeUs);
}
