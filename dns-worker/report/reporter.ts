/** Reports the work of a thread: a log record and a counter for each answered query. */
import {
  AnswerSource,
  type AnswerSourceCode,
  ANSWER_SOURCES,
  answeredSlot,
  dnssecSlot,
  latencySlot,
  LimitReason,
  limitSlot,
  rcodeSlot,
  timeSlot,
  typeSlot,
} from '../../shared/memory/answer-counters.ts';
import { Counter, excludedSlot } from '../../shared/memory/counters.ts';
import { Exclusion, LogMark, QueryStatus } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';
import { LogRingWriter } from './log-ring.ts';

/** Log ring and counters of one thread. */
export class Reporter {
  private readonly counters: Float64Array;
  private readonly log: LogRingWriter;
  /** Answers since the last `publish`, by source. */
  private readonly unpublished = new Uint32Array(ANSWER_SOURCES.length);

  constructor(counters: SharedArrayBuffer, log: SharedArrayBuffer, LogRing = LogRingWriter) {
    this.counters = new Float64Array(counters);
    this.log = new LogRing(log);
  }

  /** Counts and logs a query whose answer is about to be sent. Queries that are not counted are not logged. */
  answered(query: Query, snapshotVersion: number): void {
    if (query.logMark !== LogMark.COUNTED) {
      if (query.logMark === LogMark.PROBE) this.log.write(query, snapshotVersion);
      return;
    }
    if (query.limitedBy !== LimitReason.NONE) {
      query.status = QueryStatus.RATE_LIMITED;
      this.count(limitSlot(query.limitedBy));
    }
    this.count(Counter.QUERIES);
    this.count(answeredSlot(query.protocol, query.status));
    this.count(rcodeSlot(query.rcode, query.answersCount));
    this.count(dnssecSlot(query.dnssec));
    this.unpublished[sourceOf(query)]!++;
    // A message without a readable question has no type and is not logged.
    if (query.qnameLength === 0) return;
    this.count(typeSlot(query.qtype));
    const { exclusion } = query;
    if (exclusion !== Exclusion.NONE) this.count(excludedSlot(exclusion));
    if (exclusion !== Exclusion.BOTH) this.log.write(query, snapshotVersion);
  }

  /** Counts a query of a refused client; if `refused` > 0, logs it as a sample of its network. */
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

  /** Adds one to a counter of `shared/memory/counters.ts` or `answer-counters.ts`. */
  count(counter: number): void {
    this.counters[counter] = this.counters[counter]! + 1;
  }

  /** Publishes the queries answered since the last call, all with the same response time. */
  publish(responseTimeUs: number): void {
    const { counters, unpublished } = this;
    for (let source = 0; source < unpublished.length; source++) {
      const answers = unpublished[source]!;
      if (answers === 0) continue;
      unpublished[source] = 0;
      const slot = latencySlot(source, responseTimeUs);
      counters[slot] = counters[slot]! + answers;
      const sum = timeSlot(source);
      counters[sum] = counters[sum]! + answers * responseTimeUs;
    }
    this.log.publish(responseTimeUs);
  }
}

/** Source of the answer; UPSTREAM also for a query that failed, because it waited for a server. */
function sourceOf(query: Query): AnswerSourceCode {
  if (query.cached === 1) return AnswerSource.CACHE;
  const { upstream, status } = query;
  const asked = upstream !== 0 || status === QueryStatus.SERVFAIL || status === QueryStatus.TIMEOUT;
  return asked ? AnswerSource.UPSTREAM : AnswerSource.LOCAL;
}
