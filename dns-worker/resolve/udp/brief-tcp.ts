/**
 * Questions to a UDP server that are asked over TCP for a short time, as third parties cannot forge what it says there:
 * to confirm a doubtful reply, or because someone guesses ids on their ports. What is found about TCP is recorded, so
 * that a server whose TCP is filtered delays no client twice.
 */
import type { CapabilityRecord } from '../capability/capability-record.ts';
import type { Question } from '../response/question.ts';
import { type Exchange, type ExchangeDone, type ExchangeOutcome, isLost } from '../transport/exchange.ts';
import type { StreamUpstream } from '../transport/exchange-tcp.ts';

/** Time limit, milliseconds: it must not use up the time of the question. */
const LIMIT_MS = 500;
/** Questions that someone guesses ids of, at once. */
const MAX_IN_REFUGE = 8;
const TIMED_OUT: ExchangeOutcome = { kind: 'failed', reason: 'network', detail: 'timeout' };

/** Short questions over TCP to one server. */
export class BriefTcp {
  private readonly tcp: StreamUpstream;
  private readonly record: CapabilityRecord;
  private inRefuge = 0;

  constructor(tcp: StreamUpstream, record: CapabilityRecord) {
    this.tcp = tcp;
    this.record = record;
  }

  /** Whether the server may answer over TCP. */
  get isPossible(): boolean {
    const finding = this.record.finding('tcp');
    return finding !== 'refused' && finding !== 'silent';
  }

  /**
   * Asks; `done` gets a loss if there was no answer in time. That is recorded if the server has replied to the question
   * over UDP: otherwise the name may be slow, and not TCP.
   */
  ask(question: Question, hasReplied: boolean, done: ExchangeDone): Exchange {
    const end = (outcome: ExchangeOutcome): void => {
      clearTimeout(timer);
      if (!isLost(outcome)) this.record.note('tcp', 'supported');
      else if (outcome !== TIMED_OUT) this.noteLoss(outcome);
      else if (hasReplied && !exchange.wasQueued) this.record.note('tcp', 'silent');
      done(outcome);
    };
    const exchange = this.tcp.ask(question, end);
    const timer = setTimeout(() => {
      exchange.cancel();
      end(TIMED_OUT);
    }, LIMIT_MS);
    return {
      get wasQueued() {
        return exchange.wasQueued;
      },
      resend: () => undefined,
      cancel: () => {
        clearTimeout(timer);
        exchange.cancel();
      },
    };
  }

  /** Asks a question whose port was closed after guesses; null if too many are asked so, or TCP does not work. */
  askInRefuge(question: Question, done: ExchangeDone): Exchange | null {
    if (this.inRefuge >= MAX_IN_REFUGE || !this.isPossible) return null;
    this.inRefuge++;
    let isInside = true;
    const leave = (): void => {
      if (isInside) this.inRefuge--;
      isInside = false;
    };
    const exchange = this.ask(question, false, (outcome) => {
      leave();
      done(outcome);
    });
    return {
      get wasQueued() {
        return exchange.wasQueued;
      },
      resend: () => undefined,
      cancel: () => {
        leave();
        exchange.cancel();
      },
    };
  }

  private noteLoss(outcome: ExchangeOutcome): void {
    if (outcome.kind === 'failed' && outcome.reason === 'network') this.record.note('tcp', 'refused');
  }
}
