/**
 * How many answers one server gives per connection, and how long it keeps an idle connection alive, learned from
 * connections that ended early (RFC 7766 section 6.2.4) or went silent. Without a limit that was learned a connection
 * is used until the server closes it.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { ConnectionTraffic, SentState } from './connection-traffic.ts';

/** Lifetime of a limit, milliseconds; a limit on idle time that was seen once lives for the shorter one. */
const BELIEVED_MS = 3_600_000;
const FIRST_BELIEVED_MS = 300_000;
/** A second connection that ended early confirms the first for this long, milliseconds. */
const CONFIRMED_WITHIN_MS = 60_000;
/** A connection that ended this long after its last answer was closed for being idle, milliseconds. */
const PROMPT_MS = 1000;
/** A connection that went silent after a shorter break has given all its answers, milliseconds. */
const MIN_IDLE_MS = 500;

/** Where the answers per connection are recorded, for all threads and for the report. */
export interface AnswersRecord {
  /** Null = no limit is known, or it is older than an hour. */
  readonly answersPerConnection: number | null;
  noteAnswersPerConnection(answers: number): void;
}

interface EarlyEnd {
  readonly answers: number;
  readonly endedMs: number;
}

/** Limits of the connections to one server address. */
export class LearnedLimits {
  private readonly clock: Clock;
  /** The last connection that ended with questions unanswered; a single one may be a restart of the server. */
  private earlyEnd: EarlyEnd | null = null;
  private readonly record: AnswersRecord;
  private idleLimitMs = Infinity;
  private idleUntilMs = -Infinity;

  constructor(clock: Clock, record: AnswersRecord) {
    this.clock = clock;
    this.record = record;
  }

  /** Answers that a connection gives at most; Infinity = no limit is known. */
  get answers(): number {
    return this.record.answersPerConnection ?? Infinity;
  }

  /** Milliseconds without traffic after which a connection is not used again; Infinity = no limit is known. */
  get idleMs(): number {
    return this.clock.monotonicMs() < this.idleUntilMs ? this.idleLimitMs : Infinity;
  }

  /**
   * The server closed a connection, with questions unanswered after so many answers. Only two of them in a row are
   * a limit, the second opened after the first had ended: a restart ends many at once.
   */
  noteEarlyEnd(
    answers: number,
    openedMs: number,
    lastAnswerMs: number,
    endedMs: number = this.clock.monotonicMs(),
  ): void {
    if (endedMs - lastAnswerMs > PROMPT_MS) return;
    const before = this.earlyEnd;
    const isRecent = before !== null && endedMs - before.endedMs < CONFIRMED_WITHIN_MS;
    if (isRecent && openedMs < before.endedMs) return;
    this.earlyEnd = { answers, endedMs };
    if (!isRecent) return;
    // A reset loses answers that were on their way: the larger number is nearer to the truth.
    this.record.noteAnswersPerConnection(Math.max(1, answers, before.answers));
  }

  /** A connection was silent to a question while a new one brought the answer. */
  noteSilence(query: SentState, traffic: ConnectionTraffic): void {
    const { idleMs, sentMs } = query;
    if (idleMs < MIN_IDLE_MS) {
      const { received, openedMs, lastReceivedMs } = traffic;
      // A server that has answered others since leaves out what comes while it answers.
      const answers = traffic.isSilentSince(query) ? received : 1;
      if (received > 0)
        this.noteEarlyEnd(answers, openedMs, lastReceivedMs, Math.max(sentMs, lastReceivedMs));
      return;
    }
    const isRepeated = this.idleMs !== Infinity;
    this.idleLimitMs = Math.min(this.idleMs, idleMs / 2);
    this.idleUntilMs = this.clock.monotonicMs() + (isRepeated ? BELIEVED_MS : FIRST_BELIEVED_MS);
  }
}
