/** Caches the answer of a first try and replies to the requests that wait for it, as the forwarder does. */
import { Counter } from '../../shared/memory/counters.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import { systemClock } from '../../shared/clock.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import type { CacheWriter } from '../cache/cache-writer.ts';
import { leavesOut } from '../forward/alias-follower.ts';
import { AnswerKeeper } from '../forward/answer-keeper.ts';
import { Nat64Discovery } from '../forward/nat64-discovery.ts';
import { RequestReplier } from '../forward/request-replier.ts';
import type { UdpReply } from '../listeners/udp-reply.ts';
import type { MissRecords } from '../misses/miss-records.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Answered } from '../resolve/resolution.ts';
import { TriedRequest } from './tried-request.ts';

export interface TriedAnswerParts {
  readonly pipeline: Pipeline;
  readonly reporter: Reporter;
  readonly writer: CacheWriter;
  readonly replies: UdpReply;
}

/** Replies to requests. One per answer thread. */
export class TriedAnswers {
  private readonly parts: TriedAnswerParts;
  private readonly keeper: AnswerKeeper;
  private readonly replier: RequestReplier;
  /**
   * This object never gets prefixes: an answer that may come from a NAT64 goes to the resolve thread, which learns the
   * prefixes.
   */
  private readonly nat64 = new Nat64Discovery(systemClock);
  private readonly request: TriedRequest;

  constructor(parts: TriedAnswerParts, settings: WorkerSettings['cache']) {
    const { pipeline, reporter, writer } = parts;
    this.parts = parts;
    this.keeper = new AnswerKeeper(writer, settings, this.nat64);
    this.replier = new RequestReplier(
      { pipeline, cache: pipeline.cache, reporter, clock: systemClock },
      this.nat64,
    );
    this.request = new TriedRequest(parts.replies);
  }

  /** Replaces the settings of the cache. */
  use(settings: WorkerSettings['cache']): void {
    this.keeper.settings = settings;
  }

  /**
   * Replies to the request in the record at `at`; `isKept`: the answer is also cached for other requests. False = pass
   * the request to the resolve thread. Never throws.
   */
  answer(records: MissRecords, at: number, answered: Answered, isKept: boolean): boolean {
    const { request } = this;
    request.load(records, at);
    try {
      return this.reply(answered, isKept);
    } catch {
      this.parts.reporter.count(Counter.INTERNAL_ERRORS);
      return request.isAnswered;
    }
  }

  /** Sends the replies of this turn. */
  flush(): void {
    this.parts.replies.flush();
  }

  private reply(answered: Answered, isKept: boolean): boolean {
    const { request, replier } = this;
    const { snapshot } = this.parts.pipeline;
    // If the policy is newer than the request, or the answer must be completed, the forwarder answers the request.
    const isChanged = request.passedVersion !== snapshot.version;
    if (isChanged || leavesOut(answered)) return false;
    replier.open(request);
    const { query } = replier;
    if (query.partition !== POOLS_PARTITION || this.mayBeNat64(answered)) return false;
    const upstream = answered.upstream + 1;
    if (isKept) this.keeper.keepOnce(query, answered, answered.answer, upstream);
    this.parts.pipeline.passAgain(query);
    replier.answer(request, answered, upstream);
    return true;
  }

  private mayBeNat64({ answer }: Answered): boolean {
    const { snapshot } = this.parts.pipeline;
    return snapshot.rebinding.isOn && this.nat64.mustLearn(this.replier.query.qtype, answer);
  }
}
