/**
 * THE ordered list of stages, for UDP and TCP alike: read `Pipeline.decide` from the top. Each stage is listed once,
 * with the reason for its position; stages do not know each other. A pass selects the stages that run for an occasion:
 * a new query, one that has waited, an answer.
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
import { Judge, type MatchRecorder } from './policy/judge.ts';
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
import { AnswerNames, isToBeJudged } from './stages/answer-names.ts';
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

/** One bit per part of a pass that some passes skip. */
const Part = {
  /** Count the query: for its client, against its network's limit, as a cache hit or miss. */
  COUNTED: 1 << 0,
  /** Who asks, and the forward zone of the name. */
  ASKER: 1 << 1,
  QUESTION_CHECKS: 1 << 2,
  /** Rules for the client as a whole: grants and the schedule's override. */
  OVERRIDES: 1 << 3,
  /** Names that this server answers itself: local and special-use names. */
  OWN_NAMES: 1 << 4,
  POLICY: 1 << 5,
  CACHE: 1 << 6,
  ANSWER_NAMES: 1 << 7,
  REBINDING: 1 << 8,
  /** Whether the asker may ask: once for each query. */
  ACCESS: 1 << 9,
} as const;

/** Parts of a question that has waited. */
const AGAIN = Part.OVERRIDES | Part.OWN_NAMES | Part.POLICY;
/** An answer that lies in the slot. */
const ANSWER = Part.ANSWER_NAMES | Part.REBINDING;
/** A query to be explained, and a new one. */
const EXPLAINED = Part.ASKER | Part.ACCESS | Part.QUESTION_CHECKS | AGAIN | Part.CACHE | ANSWER;
const NEW = EXPLAINED | Part.COUNTED;

/** Observes the stages of a query. */
export interface PipelineRecorder extends MatchRecorder {
  /** Puts the query into another group than its client's, for explanations that name a group; true = it did. */
  placeInGroup(query: Query, snapshot: OpenSnapshot): boolean;
  /** `detail` describes findings other than rules. */
  passed(stage: ExplainedStageName, result: StageResultCode, detail?: string): void;
}

/** Parts of a pipeline, except the snapshot. */
export interface PipelineParts {
  readonly cache: AnswerCache;
  readonly reporter: Reporter;
  readonly sightings: ClientSightings;
  /** Recognizes clients by their MAC at new addresses; absent = this network's neighbours do not matter. */
  readonly newcomers?: Newcomers;
  readonly limiter: RateLimiter;
  readonly cookies: ServerCookies;
  readonly identity?: ServerIdentity;
  /** Clients' subnets are sent to the upstreams (RFC 7871); otherwise they are ignored. */
  readonly forwardsEcs: boolean;
}

/** Decides about queries from a snapshot and the shared cache. One per thread. */
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
  readonly judge = new Judge();
  private readonly refusals = new Refusals();
  private readonly answerNames = new AnswerNames(this.judge);

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

  /** Answers from another snapshot from now on; true if a rule table was replaced by another. */
  replaceSnapshot(next: OpenSnapshot): boolean {
    const before = this.snapshot.rules;
    this.snapshot = next;
    this.judge.releaseTables(next);
    this.answerNames.releaseTables(next);
    return !isSameTable(before, next.rules);
  }

  /** Applies changed settings: rate limit, client subnets, identity of this server. */
  use(limiter: RateLimiter, forwardsEcs: boolean, identity: ServerIdentity): void {
    this.limiter = limiter;
    this.forwardsEcs = forwardsEcs;
    this.identity = identity;
  }

  /** Runs the stages; ANSWERED leaves the reply in the slot. Never throws: a bug is one SERVFAIL. */
  run(query: Query): StageResultCode {
    return this.answer(query, this.read(query), NEW);
  }

  /** The second half of `run`, for a query that `read` has returned `outcome` for. */
  runRead(query: Query, outcome: ReadOutcome): StageResultCode {
    return this.answer(query, outcome, NEW);
  }

  /** The same as `run`, but reports every stage and every rule that matches a name to `recorder`; counts nothing. */
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

  /** The first half of `run`: only reads the message. */
  read(query: Query): ReadOutcome {
    return readMessage(query, this.snapshot.rules, this.cookies, this.forwardsEcs);
  }

  /** A message without a question needs access like any other, and also counts against the limit of its network. */
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
   * The stages of a pass (bits of `Part`) in the contract's order of decision; the first that decides ends it. One piece:
   * each stage stands with the reason for its position, and the order can be read from the top.
   */
  private decide(query: Query, pass: number): StageResultCode {
    const { snapshot } = this;
    const isCounted = (pass & Part.COUNTED) !== 0;
    let result: StageResultCode = StageResult.CONTINUE;

    // First: every later stage asks on behalf of a group, and the log names it, also for refused questions.
    if ((pass & Part.ASKER) !== 0) this.noteAsker(query, isCounted);
    // Before any work and any information for a client that may not ask.
    if ((pass & Part.ACCESS) !== 0) {
      result = this.passed('access', this.accessOf(query, isCounted), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    // Before any work is done for a client that asks too much.
    if (isCounted) {
      result = rateLimitStage(query, this.limiter);
      if (result !== StageResult.CONTINUE) return result;
    }
    // Records which servers to ask. Later stages skip names with a forward zone.
    if ((pass & Part.ASKER) !== 0) forwardZoneStage(query, snapshot);
    // The cheapest refusals first: these need the question only.
    if ((pass & Part.QUESTION_CHECKS) !== 0) {
      result = this.passed('question_checks', questionChecksStage(query, this.identity), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    if ((pass & Part.OVERRIDES) !== 0) {
      // Before the schedule: an exception from it for a time.
      result = this.passed('grants', grantsStage(query, snapshot, this.recorder), query);
      if (result !== StageResult.CONTINUE) return result;
      // Before everything that could answer: it blocks or frees the group as a whole.
      result = this.passed('schedule_override', scheduleOverrideStage(query, snapshot), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    if ((pass & Part.OWN_NAMES) !== 0) {
      // Names that this server knows outrank policy.
      result = this.passed('local_names', localNamesStage(query, snapshot, this.recorder), query);
      if (result !== StageResult.CONTINUE) return result;
      // Before all that could lead to an upstream, for AAAA is never asked there.
      if (snapshot.policy.hidesIpv6(query.groupIndex)) {
        result = this.passed('no_ipv6', noIpv6Stage(query, snapshot.policy), query);
        if (result !== StageResult.CONTINUE) return result;
      }
      // Names that must not leave this network, also those of zones without servers; a local record or a forward zone
      // with servers outranks this stage.
      result = this.passed('special_names', specialUseNamesStage(query, snapshot, this.identity), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    if ((pass & Part.POLICY) !== 0) {
      // Before the cache, which holds upstream answers, the same for all groups.
      result = this.passedPolicy(policyStage(query, snapshot, this.judge), query);
      if (result !== StageResult.CONTINUE) return result;
      // After policy: a blocked name is blocked for every type. Before all that would ask or know an upstream.
      if (query.qtype === RRType.ANY) return this.passed('any_type', anyTypeStage(query), query);
      // Replaces a name that policy allowed.
      result = this.passed('safe_search', safeSearchStage(query, snapshot), query);
      if (result !== StageResult.CONTINUE) return result;
    }
    // The last one before there is an answer, as it may leave the question UNRESOLVED.
    if ((pass & Part.CACHE) !== 0) {
      const reporter = isCounted && query.logMark === LogMark.COUNTED ? this.reporter : null;
      result = this.passedCache(cachedAnswerStage(query, this.cache, reporter), query);
      if (result !== StageResult.ANSWERED) return result;
    }
    // The forwarder has validated it; this only names the outcome.
    if ((pass & Part.ANSWER_NAMES) !== 0) this.passed('dnssec', StageResult.CONTINUE, query);
    // Policy once more, on the names and addresses in the answer. From here on ANSWERED also means: left unchanged.
    if ((pass & Part.ANSWER_NAMES) !== 0 && isToBeJudged(query, snapshot)) {
      const onNames = this.passed('answer_names', this.answerNames.check(query, snapshot), query);
      if (onNames !== StageResult.CONTINUE) return onNames;
    }
    // Last, as an answer that policy has replaced has no addresses of an upstream.
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
    // A name that statistics leave out moves nothing in the table of clients.
    const isSeen = isCounted && query.logMark === LogMark.COUNTED && (ofName & Exclusion.STATS) === 0;
    clientGroupStage(query, this.snapshot, isSeen ? this.sightings : null, this.newcomers);
    query.exclusion = (query.exclusion | ofName) as ExclusionBits;
    const isPlaced = this.recorder?.placeInGroup(query, this.snapshot) === true;
    if (isPlaced) this.recorder?.passed('client_group', StageResult.CONTINUE, 'chosen');
    else this.passed('client_group', StageResult.CONTINUE, query);
  }

  /** Counts those that are refused, and answers so many of a network. */
  private accessOf(query: Query, isCounted: boolean): StageResultCode {
    if (query.isAdmitted || query.isOwn) return StageResult.CONTINUE;
    if (!isCounted) return accessStage(query, false);
    const isQuiet = !this.refusals.note(query) || this.identity.refusesSilently;
    this.reporter.refused(query, this.snapshot.version, this.refusals.unreported);
    return accessStage(query, isQuiet);
  }

  /** One stage to queries, which meets blocked services first; two to explanations. */
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

  /** Passes the result of a stage to the recorder, if any, and returns it. */
  private passed(stage: ExplainedStageName, result: StageResultCode, query: Query): StageResultCode {
    if (this.recorder !== null) this.recorder.passed(stage, result, detailOf(stage, query, this.snapshot));
    return result;
  }

  /** Finds the client's group and forward zone again for a query that has waited: both may have changed since. */
  reopen(query: Query): void {
    this.decide(query, Part.ASKER);
  }

  /**
   * Decides again about a query that was reopened: policy, schedules and the names of this network may have changed.
   * The slot must hold the bare question. CONTINUE: an upstream's answer may be sent once `checkAnswer` has passed it.
   * ANSWERED: the answer is in the slot. UNRESOLVED: the qname is an alias, `query.alias` its target, and the records
   * that lead there are the answer so far.
   */
  decideAgain(query: Query): StageResultCode {
    return this.decide(query, AGAIN);
  }

  /**
   * Used instead of `decideAgain` if the active snapshot has already allowed the question: records what later stages
   * need.
   */
  passAgain(query: Query): void {
    this.decide(query, Part.OVERRIDES);
  }

  /** The local or special-use answer for a name that an upstream's answer leads to; results as of `decideAgain`. */
  findHere(query: Query): StageResultCode {
    return this.decide(query, Part.OWN_NAMES);
  }

  /**
   * Checks an upstream's answer in the slot against policy: replaces it if names or addresses in it are blocked.
   * `decideAgain` has let its qname pass.
   */
  checkAnswer(query: Query, recorder: PipelineRecorder | null = null): void {
    if (isToBeJudged(query, this.snapshot)) noteAllowance(query, this.snapshot, this.judge);
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
   * The last look at a reply in the slot: removes hints of groups without IPv6, cuts TTLs that would outlive a flip of the client's policy; where it is
   * counted, holds NXDOMAIN against the budget of the client's network.
   */
  finish(query: Query, isCounted: boolean): void {
    const { policy } = this.snapshot;
    if (policy.hidesIpv6(query.groupIndex)) removeIpv6Hints(query);
    capTtlsToFlip(query, policy);
    if (isCounted) limitNxdomain(query, this.limiter);
  }

  private record(recorder: PipelineRecorder | null): void {
    this.recorder = recorder;
    this.judge.recorder = recorder;
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
