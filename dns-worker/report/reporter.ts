/** Reports the work of a thread: a log record and a counter for each answered query. */
import { answeredSlot, Counter, excludedSlot, latencySlot } from '../../shared/memory/counters.ts';
import { Exclusion, LogMark, QueryStatus } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';
import { LogRingWriter } from './log-ring.ts';

/** Log ring and counters of one thread. */
export class Reporter {
  private readonly counters: Float64Array;
  private readonly log: LogRingWriter;
  /** Queries since the last `publish`. */
  private unpublished = 0;

  constructor(counters: SharedArrayBuffer, log: SharedArrayBuffer, LogRing = LogRingWriter) {
    this.counters = new Float64Array(counters);
    this.log = new LogRing(log);
  }

  /** Counts and logs a query whose answer is about to be sent. The log drops those that are not to be counted. */
  answered(query: Query, snapshotVersion: number): void {
    if (query.logMark !== LogMark.COUNTED) {
      if (query.logMark === LogMark.PROBE) this.log.write(query, snapshotVersion);
      return;
    }
    const { counters } = this;
    if (query.isRateLimited) query.status = QueryStatus.RATE_LIMITED;
    counters[Counter.QUERIES] = counters[Counter.QUERIES]! + 1;
    const slot = answeredSlot(query.protocol, query.status);
    counters[slot] = counters[slot]! + 1;
    this.unpublished++;
    // A message without a readable question is counted by its class, not logged.
    if (query.qnameLength === 0) return;
    const { exclusion } = query;
    if (exclusion !== Exclusion.NONE) this.count(excludedSlot(exclusion));
    if (exclusion !== Exclusion.BOTH) this.log.write(query, snapshotVersion);
  }

  /** Counts a query that is refused since its client may not ask; logs it as a sample of its network if `refused` > 0. */
  refused(query: Query, snapshotVersion: number, refused: number): void {
    this.count(Counter.REFUSED_CLIENTS);
    if (refused > 0) {
      query.logMark = LogMark.REFUSED;
      query.ruleAttribute = refused;
      this.log.write(query, snapshotVersion);
      query.ruleAttribute = 0;
    }
    query.logMark = LogMark.NONE;
  }

  /** Adds one to a counter of `shared/memory/counters.ts`. */
  count(counter: number): void {
    this.counters[counter] = this.counters[counter]! + 1;
  }

  /** Publishes the queries answered since the last call, all with this response time. */
  publish(responseTimeUs: number): void {
    const { counters, unpublished } = this;
    if (unpublished !== 0) {
      const slot = latencySlot(responseTimeUs);
      counters[slot] = counters[slot]! + unpublished;
      counters[Counter.RESPONSE_TIME_US] = counters[Counter.RESPONSE_TIME_US]! + unpublished * responseTimeUs;
      this.unpublished = 0;
    }
    this.log.publish(responseTimeUs);
  }
}
