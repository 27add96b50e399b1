/**
 * The ordered list of stages, for UDP and TCP alike: read `Pipeline.decide` from the top. Each stage is listed once,
 * with the reason for its position; stages do not depend on each other. A pass selects the stages for one occasion: a
 * new query, a query that has waited, or an answer.
 */
import { systemClock } from '../shared/clock.ts';
import { Counter } from '../shared/memory/counters.ts';
import { Rcode, RRType } from '../shared/dns/iana.ts';
import type { ExplainedStageName } from '../shared/threads/explanation.ts';
import {
  DNSSEC_STATUS_NAMES,
  Exclusion,
  type ExclusionBits,
  LogMark,
  QueryStatus,
} from '../shared/query-log.ts';
import { PolicyMatcher, type MatchRecorder } from './policy/policy-matcher.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import type { ClientSightings } from './report/sighting-writer.ts';
import type { ServerCookies } from './cookies/server-cookies.ts';
import { ParseOutcome } from './query/parse-query.ts';
import { type Query, StageResult, type StageResultCode } from './query/query.ts';
import { READ_FAILED, readMessage, type ReadOutcome } from './stages/read-message.ts';
import { mayAsk } from './policy/may-ask.ts';
import { Newcomers } from './policy/newcomers.ts';
import { Refusals } from './policy/refusals.ts';
import type { RateLimiter } from './policy/rate-limiter.ts';
import { ServerIdentity } from './policy/server-identity.ts';
import type { Reporter } from './report/reporter.ts';
import { capTtlsToFlip } from './respond/flip-ttl.ts';
import { ownZoneDetail } from './respond/own-zone.ts';
import { replyWithRcode } from './respond/reply.ts';
import { accessDetail, accessStage } from './stages/client-access.ts';
import { AnswerNames, needsCheck } from './stages/answer-names.ts';
import { anyTypeStage } from './stages/any-type.ts';
import { cachedAnswerStage } from './stages/cached-answer.ts';
import { clientDetail, clientGroupStage } from './stages/client-group.ts';
import { noIpv6Stage, removeIpv6Hints } from './stages/no-ipv6.ts';
import { grantsStage } from './stages/grants.ts';
import { forwardZoneStage } from './stages/forward-zone.ts';
import { localNamesStage } from './stages/local-names.ts';
import { noteAllowance, policyStage } from './stages/policy.ts';
import { questionChecksStage } from './stages/question-checks.ts';
import { admissionDetail, limitNxdomain, rateLimitStage } from './stages/rate-limit.ts';
import { overrideDetail, scheduleOverrideStage } from './stages/schedule-override.ts';
import { specialUseNamesStage } from './stages/special-use-names.ts';
import { rebindingStage } from './stages/rebinding.ts';
import { safeSearchDetail, safeSearchStage } from './stages/safe-search.ts';
import { answerUnreadable, unreadableStage, type UnreadableOutcome } from './stages/unreadable.ts';
import { isSameTable, type OpenSnapshot } from './policy/open-snapshot.ts';

/** One bit for each part that some passes skip. */
const Part = {
  /** Count the query: for its client, against its network's limit, and as a cache hit or miss. */
  COUNTED: 1 << 0,
  /** Find the client, and the forward zone of the name. */
  ASKER: 1 << 1,
  QUESTION_CHECKS: 1 << 2,
  /** Rules for the client as a whole: grants and the schedule override. */
  OVERRIDES: 1 << 3,
  /** Names that this server answers itself: local and special-use names. */
  OWN_NAMES: 1 << 4,
  POLICY: 1 << 5,
  CACHE: 1 << 6,
  ANSWER_NAMES: 1 << 7,
  REBINDING: 1 << 8,
  /** Check once per query whether the client is allowed. */
  ACCESS: 1 << 9,
} as const;

/** Parts for a query that has waited. */
const AGAIN = Part.OVERRIDES | Part.OWN_NAMES | Part.POLICY;
/** Parts for an answer in the slot. */
const ANSWER = Part.ANSWER_NAMES | Part.REBINDING;
/** Parts for an explained query, and for a new query. */
const EXPLAINED = Part.ASKER | Part.ACCESS | Part.QUESTION_CHECKS | AGAIN | Part.CACHE | ANSWER;
const NEW = EXPLAINED | Part.COUNTED;

/** Observes the stages of a query. */
export interface PipelineRecorder extends MatchRecorder {
  /** Moves the query to the group that an explanation names; false if the explanation names none. */
  placeInGroup(query: Query, snapshot: OpenSnapshot): boolean;
  /** `detail` describes findings other than rules. */
  passed(stage: ExplainedStageName, result: StageResultCode, detail?: string): void;
}

/** Parts of a pipeline, except the snapshot. */
export interface PipelineParts {
  readonly cache: AnswerCache;
  readonly reporter: Reporter;
  readonly sightings: ClientSightings;
  /** Recognizes clients at new addresses by their MAC; absent = no neighbour table. */
  readonly newcomers?: Newcomers;
  readonly limiter: RateLimiter;
  readonly cookies: ServerCookies;
  readonly identity?: ServerIdentity;
  /** Whether clients' subnets are sent to the upstreams (RFC 7871); if not, the subnets are ignored. */
  readonly forwardsEcs: boolean;
}

/** Decides on queries, from a snapshot and the shared cache. Each thread has one. */
export class Pipeline {
  snapshot: OpenSnapshot;
  readonly cache: AnswerCache;
  private readonly reporter: Reporter;
  private readonly sightings: ClientSightings;
  private readonly newcomers: Newcomers;
  private limiter: RateLimiter;
  private readonly cookies: ServerCookies;
  private forwardsEcs: boolean;
  private identity: ServerIdentity;
  private recorder: PipelineRecorder | null = null;
  readonly matcher = new PolicyMatcher();
  private readonly refusals = new Refusals();
  private readonly answerNames = new AnswerNames(this.matcher);

  constructor(snapshot: OpenSnapshot, parts: PipelineParts) {
    this.snapshot = snapshot;
    this.cache = parts.cache;
    this.reporter = parts.reporter;
    this.sightings = parts.sightings;
    this.newcomers = parts.newcomers ?? new Newcomers(() => [], systemClock);
    this.limiter = parts.limiter;
    this.cookies = parts.cookies;
    this.forwardsEcs = parts.forwardsEcs;
    this.identity = parts.identity ?? new ServerIdentity();
  }

  /** Replaces the snapshot; true if the rule table changed. */
  replaceSnapshot(next: OpenSnapshot): boolean {
    const before = this.snapshot.rules;
    this.snapshot = next;
    this.matcher.releaseTables(next);
    this.answerNames.releaseTables(next);
    return !isSameTable(before, next.rules);
  }

  /** Applies changed settings: rate limit, client subnets, identity of this server. */
  use(limiter: RateLimiter, forwardsEcs: boolean, identity: ServerIdentity): void {
    this.limiter = limiter;
    this.forwardsEcs = forwardsEcs;
    this.identity = identity;
  }

  /** Runs the stages; ANSWERED leaves the reply in the slot. Never throws: a bug causes one SERVFAIL. */
  run(query: Query): StageResultCode {
    return this.answer(query, this.read(query), NEW);
  }

  /** The second half of `run`, for a query for which `read` has returned `outcome`. */
  runRead(query: Query, outcome: ReadOutcome): StageResultCode {
    return this.answer(query, outcome, NEW);
  }

  /** Same as `run`, but reports every stage and every rule that matches a name to `recorder`, and counts nothing. */
  explain(query: Query, recorder: PipelineRecorder): StageResultCode {
    this.record(recorder);
    try {
      return this.answer(query, this.read(query), EXPLAINED);
    } finally {
      this.record(null);
    }
  }

  private answer(query: Query, outcome: ReadOutcome, pass: number): StageResultCode {
    if (outcome === READ_FAILED) return this.fail(query);
    try {
      const isQuestion = outcome === ParseOutcome.OK;
      const result = isQuestion ? this.decide(query, pass) : this.decideUnreadable(query, outcome);
      if (result === StageResult.ANSWERED) this.finish(query, (pass & Part.COUNTED) !== 0);
      return result;
    } catch {
      return this.fail(query);
    }
  }

  private fail(query: Query): StageResultCode {
    this.reporter.count(Counter.INTERNAL_ERRORS);
    query.status = QueryStatus.SERVFAIL;
    replyWithRcode(query, Rcode.SERVFAIL);
    return StageResult.ANSWERED;
  }

  /** The first half of `run`: reads the message. */
  read(query: Query): ReadOutcome {
    return readMessage(query, this.snapshot.rules, this.cookies, this.forwardsEcs);
  }

  /** Checks the client of a message without a question, which also counts against its network's limit. */
  private decideUnreadable(query: Query, outcome: UnreadableOutcome): StageResultCode {
    if (!mayAsk(query, this.snapshot)) {
      this.reporter.refused(query, this.snapshot.version, 0);
      return StageResult.DROPPED;
    }
    let result = unreadableStage(query, outcome, this.reporter);
    if (result === StageResult.CONTINUE) result = rateLimitStage(query, this.limiter);
    return result === StageResult.CONTINUE ? answerUnreadable(query, outcome) : result;
  }

  /**
   * The stages of a pass (bits of `Part`) in the contract's order of decision; the first stage that decides ends the
   * pass. This is one function, so that the order can be read from the top, with the reason for each position.
   */
  private decide(query: Query, pass: number): StageResultCode {
    const { snapshot } = this;
    const isCounted = (pass & Part.COUNTED) !== 0;
    let result: StageResultCode = StageResult.CONTINUE;

    // First: all later stages need the client's group, and the log contains it for all queries, even refused ones.
    if ((pass & Part.ASKER) !== 0) this.noteAsker(query, isCounted);
    // Before any work for a refused client, and before the client learns anything.
    if ((pass & Part.ACCESS) !== 0) {
      result = this.passed('access', this.accessOf(query, isCounted), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    // Before any work for a client that exceeds its rate limit.
    if (isCounted) {
      result = rateLimitStage(query, this.limiter);
      if (result !== StageResult.CONTINUE) return result;
    }
    // Records which servers to query. Later stages skip names with a forward zone.
    if ((pass & Part.ASKER) !== 0) forwardZoneStage(query, snapshot);
    // The cheapest refusals first: these need only the question.
    if ((pass & Part.QUESTION_CHECKS) !== 0) {
      result = this.passed('question_checks', questionChecksStage(query, this.identity), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    if ((pass & Part.OVERRIDES) !== 0) {
      // Before the schedule: a grant is a temporary exception from the schedule.
      result = this.passed('grants', grantsStage(query, snapshot, this.recorder), query);
      if (result !== StageResult.CONTINUE) return result;
      // Before all stages that could answer: the override blocks or allows everything for the group.
      result = this.passed('schedule_override', scheduleOverrideStage(query, snapshot), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    if ((pass & Part.OWN_NAMES) !== 0) {
      // Local names outrank policy.
      result = this.passed('local_names', localNamesStage(query, snapshot, this.recorder), query);
      if (result !== StageResult.CONTINUE) return result;
      // Before all stages that could lead to an upstream, since AAAA queries of these groups are never sent there.
      if (snapshot.policy.hidesIpv6(query.groupIndex)) {
        result = this.passed('no_ipv6', noIpv6Stage(query, snapshot.policy), query);
        if (result !== StageResult.CONTINUE) return result;
      }
      // Names that must not leave this network, including those of zones without servers; a local record or a forward
      // zone with servers outranks this stage.
      result = this.passed('special_names', specialUseNamesStage(query, snapshot, this.identity), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    if ((pass & Part.POLICY) !== 0) {
      // Before the cache, whose upstream answers are the same for all groups.
      result = this.passedPolicy(policyStage(query, snapshot, this.matcher), query);
      if (result !== StageResult.CONTINUE) return result;
      // After policy: a blocked name is blocked for every type. Before all stages that use an upstream's answer.
      if (query.qtype === RRType.ANY) return this.passed('any_type', anyTypeStage(query), query);
      // After policy: safe search replaces a name that policy allowed.
      result = this.passed('safe_search', safeSearchStage(query, snapshot), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    // The last stage before an answer exists: it leaves the question UNRESOLVED if the cache has no answer.
    if ((pass & Part.CACHE) !== 0) {
      const reporter = isCounted && query.logMark === LogMark.COUNTED ? this.reporter : null;
      result = this.passedCache(cachedAnswerStage(query, this.cache, reporter), query);
      if (result !== StageResult.ANSWERED) return result;
    }
    // The forwarder has validated the answer; this line only reports the outcome.
    if ((pass & Part.ANSWER_NAMES) !== 0) this.passed('dnssec', StageResult.CONTINUE, query);
    // Policy again, for the names and addresses in the answer. From here on ANSWERED can also mean that the answer is
    // unchanged.
    if ((pass & Part.ANSWER_NAMES) !== 0 && needsCheck(query, snapshot)) {
      const onNames = this.passed('answer_names', this.answerNames.check(query, snapshot), query);
      if (onNames !== StageResult.CONTINUE) return onNames;
    }
    // Last: an answer that policy has replaced contains no addresses of an upstream.
    if ((pass & Part.REBINDING) !== 0) {
      const onAddresses = query.hasPrivateAddress ? rebindingStage(query, snapshot) : StageResult.CONTINUE;
      this.passed('rebinding', onAddresses, query);
      if (onAddresses !== StageResult.CONTINUE) return onAddresses;
    }
    return result;
  }

  private noteAsker(query: Query, isCounted: boolean): void {
    this.recorder?.passed('admission', StageResult.CONTINUE, admissionDetail(this.limiter));
    query.logMark = query.isOwn ? LogMark.NONE : this.identity.logMarkOf(query);
    const ofName = this.identity.nameExclusions.of(query);
    // A name that is excluded from statistics does not change the table of clients.
    const isSeen = isCounted && query.logMark === LogMark.COUNTED && (ofName & Exclusion.STATS) === 0;
    clientGroupStage(query, this.snapshot, isSeen ? this.sightings : null, this.newcomers);
    query.exclusion = (query.exclusion | ofName) as ExclusionBits;
    const isPlaced = this.recorder?.placeInGroup(query, this.snapshot) === true;
    if (isPlaced) this.recorder?.passed('client_group', StageResult.CONTINUE, 'chosen');
    else this.passed('client_group', StageResult.CONTINUE, query);
  }

  /** Counts queries of refused clients, and limits the answers to their networks. */
  private accessOf(query: Query, isCounted: boolean): StageResultCode {
    if (query.isAdmitted || query.isOwn) return StageResult.CONTINUE;
    if (!isCounted) return accessStage(query, false);
    const isQuiet = !this.refusals.note(query) || this.identity.refusesSilently;
    this.reporter.refused(query, this.snapshot.version, this.refusals.unreported);
    return accessStage(query, isQuiet);
  }

  /** For queries, policy is one stage that checks blocked services first; in explanations it is two stages. */
  private passedPolicy(result: StageResultCode, query: Query): StageResultCode {
    if (this.recorder === null) return result;
    const isByService = result === StageResult.ANSWERED && query.status === QueryStatus.BLOCKED_SERVICE;
    this.passed('services', isByService ? result : StageResult.CONTINUE, query);
    return isByService ? result : this.passed('policy', result, query);
  }

  /** Explanations show how long the answer stays in the cache. */
  private passedCache(result: StageResultCode, query: Query): StageResultCode {
    if (this.recorder === null) return result;
    const { cacheReference, arrivedMonotonicSecs: nowSecs } = query;
    const isHit = result === StageResult.ANSWERED;
    const detail = isHit ? `ttl ${this.cache.secsLeft(cacheReference, nowSecs)}` : undefined;
    this.recorder.passed('cache', result, detail);
    return result;
  }

  /** Reports the result of a stage to the recorder, if any, and returns it. */
  private passed(stage: ExplainedStageName, result: StageResultCode, query: Query): StageResultCode {
    if (this.recorder !== null) this.recorder.passed(stage, result, detailOf(stage, query, this.snapshot));
    return result;
  }

  /** Finds the client's group and forward zone again for a query that has waited: both may have changed. */
  reopen(query: Query): void {
    this.decide(query, Part.ASKER);
  }

  /**
   * Decides again on a query that `reopen` has prepared: policy, schedules and local names may have changed. The slot
   * must contain only the question. CONTINUE: an upstream's answer may be sent after `checkAnswer`. ANSWERED: the
   * answer is in the slot. UNRESOLVED: the qname is an alias, `query.alias` its target, and the answer so far consists
   * of the records that lead to it.
   */
  decideAgain(query: Query): StageResultCode {
    return this.decide(query, AGAIN);
  }

  /**
   * Used instead of `decideAgain` if the active snapshot has already allowed the question: records the data that later
   * stages need.
   */
  passAgain(query: Query): void {
    this.decide(query, Part.OVERRIDES);
  }

  /** The local or special-use answer for a name that an upstream's answer refers to; same results as `decideAgain`. */
  findHere(query: Query): StageResultCode {
    return this.decide(query, Part.OWN_NAMES);
  }

  /**
   * Checks an upstream's answer in the slot against policy: replaces it if names or addresses in it are blocked.
   * `decideAgain` must have allowed the qname.
   */
  checkAnswer(query: Query, recorder: PipelineRecorder | null = null): void {
    if (needsCheck(query, this.snapshot)) noteAllowance(query, this.snapshot, this.matcher);
    this.record(recorder);
    try {
      this.decide(query, ANSWER);
    } finally {
      this.record(null);
    }
  }

  /** Checks the answer of an alias's target for private addresses (rebinding). */
  checkTarget(query: Query): void {
    this.decide(query, Part.REBINDING);
  }

  /**
   * Finishes a reply in the slot: removes IPv6 hints for groups without IPv6, and limits TTLs to the next change of the
   * client's policy. If the query is counted, NXDOMAIN counts against the limit of the client's network.
   */
  finish(query: Query, isCounted: boolean): void {
    const { policy } = this.snapshot;
    if (policy.hidesIpv6(query.groupIndex)) removeIpv6Hints(query);
    capTtlsToFlip(query, policy);
    if (isCounted) limitNxdomain(query, this.limiter);
  }

  private record(recorder: PipelineRecorder | null): void {
    this.recorder = recorder;
    this.matcher.recorder = recorder;
  }
}

function detailOf(stage: ExplainedStageName, query: Query, snapshot: OpenSnapshot): string | undefined {
  if (stage === 'client_group') return clientDetail(query, snapshot);
  if (stage === 'access') return accessDetail(query);
  if (stage === 'safe_search') return safeSearchDetail(query, snapshot);
  if (stage === 'special_names') return ownZoneDetail(query, snapshot);
  if (stage === 'dnssec') return DNSSEC_STATUS_NAMES[query.dnssec];
  return stage === 'schedule_override' ? overrideDetail(query, snapshot) : undefined;
}
