/**
 * THE ordered list of stages: the way of every query, over UDP and TCP alike. A straight list with early
 * return; stages know nothing of each other. The order is the contract's decision order:
 *
 *  1. parse            what cannot be read is answered or dropped before anything is looked up
 *  2. questionChecks   cheapest refusals first; needs only the question
 *  3. clientGroup      every later stage asks on behalf of a group
 *  4. policy           before the cache: the cache holds upstream answers, never verdicts
 *  5. cachedAnswer     last, as it is the only one that may leave a question UNRESOLVED
 */
import { Counter } from '../shared/counters.ts';
import { Rcode } from '../shared/dns/iana.ts';
import { QueryStatus } from '../shared/query-log.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import { ParseOutcome, parseQuery } from './parse-query.ts';
import { type Query, Verdict, type VerdictCode } from './query.ts';
import type { Reporter } from './report/reporter.ts';
import { replyWithRcode } from './respond/reply.ts';
import { cachedAnswerStage } from './stages/cached-answer.ts';
import { clientGroupStage } from './stages/client-group.ts';
import { policyStage } from './stages/policy.ts';
import { questionChecksStage } from './stages/question-checks.ts';
import { VerdictMemo } from './stages/verdict-memo.ts';
import { freeReplacedTable, type OpenSnapshot } from './state.ts';

/** Decides about queries from a snapshot and the shared cache. One a thread. */
export class Pipeline {
  snapshot: OpenSnapshot;
  private readonly cache: AnswerCache;
  private readonly reporter: Reporter;
  private readonly memo = new VerdictMemo();

  constructor(snapshot: OpenSnapshot, cache: AnswerCache, reporter: Reporter) {
    this.snapshot = snapshot;
    this.cache = cache;
    this.reporter = reporter;
  }

  /** Answers from another snapshot from now on. */
  replaceSnapshot(next: OpenSnapshot): void {
    const before = this.snapshot.rules;
    this.snapshot = next;
    freeReplacedTable(before, next.rules);
  }

  /** Runs the stages; ANSWERED leaves the reply in the slot. Never throws: a bug is one SERVFAIL. */
  run(query: Query): VerdictCode {
    try {
      return this.decide(query);
    } catch {
      this.reporter.count(Counter.INTERNAL_ERRORS);
      return this.fail(query, Rcode.SERVFAIL, QueryStatus.SERVFAIL);
    }
  }

  private decide(query: Query): VerdictCode {
    const { snapshot } = this;
    const parsed = parseQuery(query, snapshot.rules.seedLow, snapshot.rules.seedHigh);
    if (parsed !== ParseOutcome.OK) return this.answerUnreadable(query, parsed);
    let verdict = questionChecksStage(query);
    if (verdict !== Verdict.CONTINUE) return verdict;
    verdict = clientGroupStage(query, snapshot);
    if (verdict !== Verdict.CONTINUE) return verdict;
    verdict = policyStage(query, snapshot, this.memo);
    if (verdict !== Verdict.CONTINUE) return verdict;
    return cachedAnswerStage(query, this.cache, this.reporter);
  }

  private answerUnreadable(query: Query, parsed: number): VerdictCode {
    if (parsed === ParseOutcome.DROP) {
      this.reporter.count(Counter.DROPPED_SHORT_OR_RESPONSE);
      return Verdict.DROPPED;
    }
    query.hasEdns = false;
    query.questionEnd = 0;
    query.qnameLength = 0;
    const unknownOpcode = parsed === ParseOutcome.NOT_IMPLEMENTED;
    this.reporter.count(unknownOpcode ? Counter.NOT_IMPLEMENTED : Counter.FORMAT_ERRORS);
    return this.fail(query, unknownOpcode ? Rcode.NOTIMP : Rcode.FORMERR, QueryStatus.REFUSED);
  }

  private fail(query: Query, rcode: number, status: number): VerdictCode {
    query.status = status;
    replyWithRcode(query, rcode);
    return Verdict.ANSWERED;
  }
}
