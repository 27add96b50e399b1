/**
 * Queries to a UDP server that are sent over TCP with a short time limit, because third parties cannot forge TCP
 * replies: to confirm a doubtful reply, or because a third party is guessing ids on the ports. Findings about TCP are
 * recorded, so that a server whose TCP is filtered does not delay clients twice.
 */
import type { CapabilityRecord } from '../capability/capability-record.ts';
import type { Question } from '../response/question.ts';
import { type Exchange, type ExchangeDone, type ExchangeOutcome, isLost } from '../transport/exchange.ts';
import type { StreamUpstream } from '../transport/exchange-tcp.ts';

/** Time limit in milliseconds: it must leave time for the rest of the question. */
const LIMIT_MS = 500;
/** Maximum number of concurrent queries that use TCP because of guessed ids. */
const MAX_IN_REFUGE = 8;
const TIMED_OUT: ExchangeOutcome = { kind: 'failed', reason: 'network', detail: 'timeout' };

/** Queries over TCP to one server, with a short time limit. */
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
   * Sends the question; `done` gets a loss if there was no answer in time. The loss is recorded only if the server has
   * replied to the question over UDP: without such a reply, the cause may be a slow name, not TCP.
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

  /**
   * Sends a question whose port was closed after guesses; null if too many questions already use TCP for this reason,
   * or TCP does not work.
   */
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
