/**
 * THE ordered list of stages: the way of every query, over UDP and TCP alike. A straight list with early
 * return; stages know nothing of each other. The order is the contract's decision order:
 *
 *  1. parse            what cannot be read is answered or dropped before anything is looked up
 *  2. clientGroup      decides nothing; every later stage asks on behalf of a group, and the log names it
 *  3. rateLimit        before any work is done for whoever asks too much; what cannot be read passes it, too
 *     forwardZone      a note of whom to ask; the checks spare names that have a zone
 *     localName        another note: whether the name is a local one
 *  4. questionChecks   cheapest refusals first; needs only the question
 *  5. scheduleOverride before everything that could answer: it blocks or frees the group as a whole
 *  6. localNames       what this server knows itself outranks policy
 *  7. specialNames     names that must not leave this network, and forms of names that are blocked
 *  8. policy           before the cache: the cache holds upstream answers, never verdicts
 *  9. safeSearch       another name in place of the one that was let pass
 * 10. cachedAnswer     last of those before the answer, as it may leave a question UNRESOLVED
 * 11. answerNames      policy once more, on names and addresses in the answer; the forwarder runs it on new answers
 * 12. rebinding        private addresses of public names; likewise
 */
import { Counter } from '../shared/memory/counters.ts';
import { Rcode } from '../shared/dns/iana.ts';
import type { ExplainedStageName } from '../shared/threads/explanation.ts';
import { QueryStatus } from '../shared/query-log.ts';
import { GroupOverrideCode } from '../shared/snapshot/policy-table.ts';
import { Judge, type MatchRecorder } from './policy/judge.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import { readClientSubnet } from './query/query-ecs.ts';
import type { ClientSightings } from './report/sighting-writer.ts';
import type { ServerCookies } from './cookies/server-cookies.ts';
import { ParseOutcome, parseQuery } from './query/parse-query.ts';
import { type Query, Verdict, type VerdictCode } from './query/query.ts';
import type { RateLimiter } from './policy/rate-limiter.ts';
import type { Reporter } from './report/reporter.ts';
import { capTtlsToFlip } from './respond/flip-ttl.ts';
import { replyWithRcode } from './respond/reply.ts';
import { AnswerNames, hasJudged } from './stages/answer-names.ts';
import { cachedAnswerStage } from './stages/cached-answer.ts';
import { clientGroupStage, findClientGroup } from './stages/client-group.ts';
import { forwardZoneStage } from './stages/forward-zone.ts';
import { findLocalName, localNamesStage } from './stages/local-names.ts';
import { policyStage } from './stages/policy.ts';
import { questionChecksStage } from './stages/question-checks.ts';
import { limitNxdomain, rateLimitStage } from './stages/rate-limit.ts';
import { isUnfiltered, scheduleOverrideStage } from './stages/schedule-override.ts';
import { specialUseNamesStage } from './stages/special-use-names.ts';
import { rebindingStage } from './stages/rebinding.ts';
import { safeSearchStage } from './stages/safe-search.ts';
import { isSameTable, type OpenSnapshot } from './policy/open-snapshot.ts';
import { ALLOWED_BY_LIST, isAllowing } from './policy/rule-match-memo.ts';

/** Hears of the stages as they pass a query; decides nothing. */
export interface PipelineRecorder extends MatchRecorder {
  /** `detail` says in words what the stage found, where that is no rule. */
  passed(stage: ExplainedStageName, verdict: VerdictCode, detail?: string): void;
}

/** What a pipeline works with besides the snapshot. */
export interface PipelineParts {
  readonly cache: AnswerCache;
  readonly reporter: Reporter;
  readonly sightings: ClientSightings;
  readonly limiter: RateLimiter;
  readonly cookies: ServerCookies;
  /** Clients' subnets go to the upstreams (RFC 7871); else no one looks at them. */
  readonly forwardsSubnets: boolean;
}

/** Decides about queries from a snapshot and the shared cache. One per thread. */
export class Pipeline {
  snapshot: OpenSnapshot;
  readonly cache: AnswerCache;
  private readonly reporter: Reporter;
  private readonly sightings: ClientSightings;
  private readonly limiter: RateLimiter;
  private readonly cookies: ServerCookies;
  private readonly forwardsSubnets: boolean;
  private recorder: PipelineRecorder | null = null;
  readonly judge = new Judge();
  private readonly answerNames = new AnswerNames(this.judge);

  constructor(snapshot: OpenSnapshot, parts: PipelineParts) {
    this.snapshot = snapshot;
    this.cache = parts.cache;
    this.reporter = parts.reporter;
    this.sightings = parts.sightings;
    this.limiter = parts.limiter;
    this.cookies = parts.cookies;
    this.forwardsSubnets = parts.forwardsSubnets;
  }

  /** Answers from another snapshot from now on; true where a rule table was replaced by another. */
  replaceSnapshot(next: OpenSnapshot): boolean {
    const before = this.snapshot.rules;
    this.snapshot = next;
    this.judge.letGoOfTables(next);
    this.answerNames.letGoOfTables(next);
    return !isSameTable(before, next.rules);
  }

  /** Runs the stages; ANSWERED leaves the reply in the slot. Never throws: a bug is one SERVFAIL. */
  run(query: Query): VerdictCode {
    try {
      const verdict = this.decide(query);
      if (verdict === Verdict.ANSWERED) {
        capTtlsToFlip(query, this.snapshot.policy);
        if (this.recorder === null) limitNxdomain(query, this.limiter);
      }
      return verdict;
    } catch {
      this.reporter.count(Counter.INTERNAL_ERRORS);
      return this.answerWithRcode(query, Rcode.SERVFAIL, QueryStatus.SERVFAIL);
    }
  }

  private decide(query: Query): VerdictCode {
    const { snapshot } = this;
    const parsed = parseQuery(query, snapshot.rules.seedLow, snapshot.rules.seedHigh);
    if (parsed === ParseOutcome.NO_QUESTION) return this.answerCookie(query);
    if (parsed !== ParseOutcome.OK) return this.answerUnreadable(query, parsed);
    if (!this.cookies.read(query) || (this.forwardsSubnets && !readClientSubnet(query)))
      return this.answerUnreadable(query, ParseOutcome.FORMAT_ERROR);
    // Before the verdict of what follows counts: the log and the client's count are told of refused questions too.
    if (this.recorder === null) clientGroupStage(query, snapshot, this.sightings);
    else findClientGroup(query, snapshot);
    let verdict = this.limit(query);
    if (verdict !== Verdict.CONTINUE) return verdict;
    forwardZoneStage(query, snapshot);
    findLocalName(query, snapshot);
    verdict = questionChecksStage(query);
    this.recorder?.passed('question_checks', verdict);
    if (verdict === Verdict.CONTINUE) verdict = this.decideByQuestion(query);
    if (verdict !== Verdict.CONTINUE) return verdict;
    verdict = cachedAnswerStage(query, this.cache, this.recorder === null ? this.reporter : null);
    this.recorder?.passed('cache', verdict);
    if (verdict === Verdict.ANSWERED) this.checkCached(query);
    return verdict;
  }

  /** The stages that decide by question and client alone: for a new query, and again for one that has waited. */
  private decideByQuestion(query: Query): VerdictCode {
    const { snapshot } = this;
    this.recorder?.passed('client_group', Verdict.CONTINUE, clientDetail(query, snapshot));
    let verdict = scheduleOverrideStage(query, snapshot);
    this.recorder?.passed('schedule_override', verdict, overrideDetail(query, snapshot));
    if (verdict !== Verdict.CONTINUE) return verdict;
    verdict = localNamesStage(query, snapshot, this.recorder);
    this.recorder?.passed('local_names', verdict);
    if (verdict !== Verdict.CONTINUE) return verdict;
    // A local record or a forward zone outranks what is said of its name in general.
    if (query.localNode === 0 && query.zoneIndex < 0) verdict = specialUseNamesStage(query, snapshot);
    this.recorder?.passed('special_names', verdict);
    if (verdict !== Verdict.CONTINUE) return verdict;
    verdict = policyStage(query, snapshot, this.judge);
    this.recorder?.passed('policy', verdict);
    if (verdict !== Verdict.CONTINUE) return verdict;
    verdict = safeSearchStage(query, snapshot);
    this.recorder?.passed('safe_search', verdict);
    return verdict;
  }

  /** Finds the group of the client again for a query that has waited: groups may have changed meanwhile. */
  findGroup(query: Query): void {
    findClientGroup(query, this.snapshot);
  }

  private checkCached(query: Query): void {
    if (hasJudged(query, this.snapshot)) {
      const onNames = this.answerNames.check(query, this.snapshot);
      this.recorder?.passed('answer_names', onNames);
      if (onNames !== Verdict.CONTINUE) return;
    }
    if (query.hasPrivateAddress) {
      const onAddresses = rebindingStage(query, this.snapshot);
      this.recorder?.passed('rebinding', onAddresses);
    }
  }

  /** The same as `run`, telling `recorder` of every stage and of every rule that meets a name. */
  explain(query: Query, recorder: PipelineRecorder): VerdictCode {
    return this.recorded(recorder, () => this.run(query));
  }

  /**
   * Decides again about a query that has waited and whose group and zone were found again: policy, schedules and the
   * names of this network may have changed meanwhile. The slot must hold the bare question. CONTINUE: what the
   * upstreams say may be given, once `checkAnswer` has passed it. ANSWERED: the answer lies in the slot. UNRESOLVED:
   * the qname is an alias, `query.alias` its target, and the records that lead there are the answer so far.
   */
  decideAgain(query: Query): VerdictCode {
    findLocalName(query, this.snapshot);
    return this.decideByQuestion(query);
  }

  /** Instead of `decideAgain`, where the snapshot in force has let the question pass before: what that notes for later. */
  passAgain(query: Query): void {
    query.isUnfiltered = isUnfiltered(query, this.snapshot);
  }

  /**
   * What this server knows itself of a name that an upstream's answer leads to, which is not the client's question:
   * names of this network, and names that must not leave it. Verdicts as of `decideAgain`.
   */
  findHere(query: Query): VerdictCode {
    const { snapshot } = this;
    findLocalName(query, snapshot);
    const verdict = localNamesStage(query, snapshot, null);
    if (verdict !== Verdict.CONTINUE || query.localNode !== 0 || query.zoneIndex >= 0) return verdict;
    return specialUseNamesStage(query, snapshot);
  }

  /**
   * Holds an answer of an upstream that lies in the slot against policy: replaces it where names or addresses in
   * it are blocked. `decideAgain` has let its qname pass.
   */
  checkAnswer(query: Query, recorder: PipelineRecorder | null = null): void {
    const isJudged = hasJudged(query, this.snapshot) && !query.isUnfiltered;
    if (isJudged && this.checkNames(query, recorder) !== Verdict.CONTINUE) return;
    if (!query.hasPrivateAddress) return;
    const verdict = rebindingStage(query, this.snapshot);
    recorder?.passed('rebinding', verdict);
  }

  /** Holds the answer of an alias's target against what is said of that name: private addresses (rebinding). */
  checkTarget(query: Query): void {
    rebindingStage(query, this.snapshot);
  }

  private checkNames(query: Query, recorder: PipelineRecorder | null): VerdictCode {
    const { snapshot, judge } = this;
    const { policy } = snapshot;
    const onName = judge.judge(query, query, snapshot, policy.groupClass(query.groupIndex));
    query.isAllowed = isAllowing(onName);
    query.isAllowedByList = onName === ALLOWED_BY_LIST;
    if (recorder === null) return this.answerNames.check(query, snapshot);
    const verdict = this.recorded(recorder, () => this.answerNames.check(query, snapshot));
    recorder.passed('answer_names', verdict);
    return verdict;
  }

  /** Holds an NXDOMAIN reply in the slot against the budget of the client's network. */
  limitNxdomain(query: Query): void {
    limitNxdomain(query, this.limiter);
  }

  /** Cuts TTLs of the reply in the slot that would outlive a flip of the group's schedule. */
  capTtls(query: Query): void {
    capTtlsToFlip(query, this.snapshot.policy);
  }

  private recorded(recorder: PipelineRecorder, work: () => VerdictCode): VerdictCode {
    this.recorder = recorder;
    this.judge.recorder = recorder;
    try {
      return work();
    } finally {
      this.recorder = null;
      this.judge.recorder = null;
    }
  }

  /** Held against the budget of the client's network; an explanation is not. */
  private limit(query: Query): VerdictCode {
    return this.recorder === null ? rateLimitStage(query, this.limiter) : Verdict.CONTINUE;
  }

  /** A request without a question asks for a cookie (RFC 7873 section 5.4), or is malformed. */
  private answerCookie(query: Query): VerdictCode {
    if (!this.cookies.read(query) || query.cookieLength === 0)
      return this.answerUnreadable(query, ParseOutcome.FORMAT_ERROR);
    const verdict = this.limit(query);
    return verdict === Verdict.CONTINUE
      ? this.answerWithRcode(query, Rcode.NOERROR, QueryStatus.LOCAL)
      : verdict;
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
    query.cookieLength = 0;
    const limited = this.limit(query);
    if (limited !== Verdict.CONTINUE) return limited;
    return this.answerWithRcode(query, unknownOpcode ? Rcode.NOTIMP : Rcode.FORMERR, QueryStatus.REFUSED);
  }

  private answerWithRcode(query: Query, rcode: number, status: number): VerdictCode {
    query.status = status;
    replyWithRcode(query, rcode);
    return Verdict.ANSWERED;
  }
}

/** Which record gave the client its group, in words. */
function clientDetail({ clientRecord }: Query, { clients }: OpenSnapshot): string {
  const { source, prefix } = clients.describe(clientRecord);
  return prefix === null ? source : `${source} ${prefix}`;
}

/** The override in words. */
function overrideDetail({ groupIndex }: Query, { policy }: OpenSnapshot): string {
  const override = policy.groupOverride(groupIndex);
  const name = Object.entries(GroupOverrideCode).find(([, code]) => code === override)?.[0] ?? 'None';
  return policy.blockingEnabled ? name : `${name}; blocking is switched off`;
}
