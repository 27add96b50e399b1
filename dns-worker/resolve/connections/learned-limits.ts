/**
 * How many answers one server gives per connection, and how long it keeps an idle connection open, learned from
 * connections that ended early (RFC 7766 section 6.2.4) or went silent. Without a learned limit, a connection is used
 * until the server closes it.
 */
import type { Clock } from '../../../shared/clock.ts';
import type { ConnectionTraffic, SentState } from './connection-traffic.ts';

/** Lifetime of a limit in milliseconds; an idle limit that was seen only once has the shorter lifetime. */
const LIMIT_LIFETIME_MS = 3_600_000;
const FIRST_LIMIT_LIFETIME_MS = 300_000;
/** Milliseconds within which a second connection that ends early confirms the limit. */
const CONFIRMED_WITHIN_MS = 60_000;
/** A connection that ended more than this many milliseconds after its last answer was closed because it was idle. */
const PROMPT_MS = 1000;
/**
 * If a connection went silent after a pause shorter than this many milliseconds, the cause is the number of answers,
 * not the idle time.
 */
const MIN_IDLE_MS = 500;

/** Record of the answers per connection, for all threads and for the report. */
export interface AnswersRecord {
  /** Limit found in the last hour; null = none. */
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
  /** The last connection that ended with unanswered queries; a single early end may mean that the server restarted. */
  private earlyEnd: EarlyEnd | null = null;
  private readonly record: AnswersRecord;
  private idleLimitMs = Infinity;
  private idleUntilMs = -Infinity;

  constructor(clock: Clock, record: AnswersRecord) {
    this.clock = clock;
    this.record = record;
  }

  /** Maximum number of answers per connection; Infinity = no known limit. */
  get answers(): number {
    return this.record.answersPerConnection ?? Infinity;
  }

  /** Milliseconds without traffic after which a connection is not used again; Infinity = no known limit. */
  get idleMs(): number {
    return this.clock.monotonicMs() < this.idleUntilMs ? this.idleLimitMs : Infinity;
  }

  /**
   * Records that the server closed a connection with unanswered queries after this many answers. The number becomes the
   * limit only if two connections in a row end early, and the second was opened after the first had ended: a restart
   * ends many connections at the same time.
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
    // A reset loses answers in transit, so the larger number is closer to the truth.
    this.record.noteAnswersPerConnection(Math.max(1, answers, before.answers));
  }

  /** Records that a query got no response on a connection, but on a new connection. */
  noteSilence(query: SentState, traffic: ConnectionTraffic): void {
    const { idleMs, sentMs } = query;
    if (idleMs < MIN_IDLE_MS) {
      const { received, openedMs, lastReceivedMs } = traffic;
      // A server that has answered later queries drops queries that arrive while it is answering.
      const answers = traffic.isSilentSince(query) ? received : 1;
      if (received > 0)
        this.noteEarlyEnd(answers, openedMs, lastReceivedMs, Math.max(sentMs, lastReceivedMs));
      return;
    }
    const isRepeated = this.idleMs !== Infinity;
    this.idleLimitMs = Math.min(this.idleMs, idleMs / 2);
    this.idleUntilMs = this.clock.monotonicMs() + (isRepeated ? LIMIT_LIFETIME_MS : FIRST_LIMIT_LIFETIME_MS);
  }
}
