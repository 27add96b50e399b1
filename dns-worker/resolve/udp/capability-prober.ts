/**
 * Finds out by probes whether a server handles cookies and mixed case, apart from health checks and clients' questions.
 * A feature is earned by three probes in a row, of a name that exists and a random name below it. It is lost by pairs:
 * two in which only the plain query was answered. A failing question starts pairs; until they decide, it is repeated
 * only unchanged or over TCP. One prober per server and thread; what it finds is in the record that all threads share.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { MAX_NAME_LENGTH } from '../../../shared/dns/name.ts';
import { PAIR_INTERVAL_MS, type HardeningFeature } from '../capability/capability-record.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { Question } from '../response/question.ts';
import {
  CapabilityProbe,
  findingOf,
  isAnswered,
  type ProbeParts,
  type ProbeReply,
} from './capability-probe.ts';
import { type Exchange, type ExchangeDone, isLost } from '../transport/exchange.ts';

/** Probes in a row that earn a feature. */
const ROUNDS = 3;
/** Longest wait for a probe, milliseconds. */
const PROBE_MS = 1000;
/** Once the plain query of a pair is answered, the other has this many times as long, at least this. */
const PATIENCE_TIMES = 4;
const MIN_PATIENCE_MS = 250;
/** Findings expire after an hour and are renewed after this, seconds; less up to a tenth, so that nodes differ. */
const RENEWAL_SECS = 2700;
/** A server that could not be probed is probed again after this, seconds. */
const RETRY_SECS = 60;
/** Other threads leave the probes to this one for this time, seconds. */
const LEASE_SECS = 30;
/** Time-out of the probe over TCP, milliseconds. */
const TCP_PROBE_MS = 2000;
/** Bytes of the random label, written as hexadecimal digits: some are letters, which have a case. */
const LABEL_OCTETS = 8;

export interface ProberParts extends ProbeParts {
  /** Asks over TCP. */
  askTcp(question: Question, done: ExchangeDone): Exchange;
  /** A question that the server answers with NOERROR. */
  readonly question: Question;
  readonly clock: Clock;
}

/** Probes one server. */
export class CapabilityProber {
  private readonly parts: ProberParts;
  private readonly inFlight = new Set<{ cancel(): void }>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private isPairing = false;
  private isClosed = false;

  constructor(parts: ProberParts) {
    this.parts = parts;
  }

  /** Probes the server if that is due; called for each question. */
  look(): void {
    const { hardening } = this.parts;
    const { record, wanted } = hardening;
    if (wanted.length === 0 || !record.isProbeDue || this.isClosed) return;
    if (record.claimProbes(LEASE_SECS)) this.earnNext(wanted, true);
  }

  /** A question with these features fails: compares them with the plain query, at most once a second on the node. */
  suspect(features: readonly HardeningFeature[]): void {
    if (this.isPairing || this.isClosed || features.length === 0) return;
    const { record } = this.parts.hardening;
    if (!record.claimPair()) return;
    this.pair(features, () => {
      const struck = features.filter((feature) => record.isStruck(feature));
      if (struck.length > 0) this.after(PAIR_INTERVAL_MS, () => this.suspect(struck));
    });
  }

  /** Cancels what is in flight. */
  close(): void {
    this.isClosed = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const probe of this.inFlight) probe.cancel();
  }

  private earnNext([feature, ...others]: readonly HardeningFeature[], isConclusive: boolean): void {
    if (feature === undefined) {
      this.conclude(isConclusive);
      return;
    }
    this.earn(feature, feature === 'cookies' ? ROUNDS + 1 : ROUNDS, (isDecided) =>
      this.earnNext(others, isConclusive && isDecided),
    );
  }

  /** `rounds` are left; the first one with cookies only fetches the server's. */
  private earn(feature: HardeningFeature, rounds: number, done: (isDecided: boolean) => void): void {
    const { question, hardening } = this.parts;
    const { record } = hardening;
    if (rounds === 0) {
      record.note(feature, 'supported');
      done(true);
      return;
    }
    const asked = rounds > ROUNDS ? [question] : [question, belowOf(question)];
    this.probeAll(
      asked.map((each) => [each, feature]),
      (replies) => {
        const isFit = replies.every((reply, i) => {
          const expected = i === 0 ? Rcode.NOERROR : reply.rcode!;
          return isAnswered(reply) && findingOf(feature, reply, expected) === 'supported';
        });
        if (isFit) this.earn(feature, rounds - 1, done);
        else this.decide(feature, done);
      },
    );
  }

  /** A feature that was not earned is compared with the plain query until two pairs agree, or one contradicts. */
  private decide(feature: HardeningFeature, done: (isDecided: boolean) => void): void {
    const { record } = this.parts.hardening;
    const compare = (): void => {
      if (!record.claimPair()) {
        this.after(PAIR_INTERVAL_MS, compare);
        return;
      }
      this.pair([feature], (isStruck) => {
        if (!isStruck) done(false);
        else if (record.isStruck(feature)) this.after(PAIR_INTERVAL_MS, compare);
        else done(true);
      });
    };
    compare();
  }

  /** Each of the features and the plain query, in random order; `done` says whether a feature has failed. */
  private pair(
    features: readonly HardeningFeature[],
    done: (isStruck: boolean) => void = () => undefined,
  ): void {
    const { question, hardening } = this.parts;
    this.isPairing = true;
    const asked = [...features, null].map((feature) => [question, feature] as const);
    this.probeAll(asked, (replies) => {
      this.isPairing = false;
      const plain = replies.at(-1)!;
      if (!isAnswered(plain)) {
        done(false);
        return;
      }
      let isStruck = false;
      for (const [i, feature] of features.entries()) {
        const reply = replies[i]!;
        if (reply.isDisturbed) continue;
        const finding = findingOf(feature, reply, plain.rcode!);
        // A server without cookies that leaves the option out answers as well as before.
        const isFit = finding === 'supported' || (finding === 'unsupported' && !hardening.isEarned(feature));
        isStruck ||= finding !== 'supported';
        if (finding !== 'supported') hardening.record.strike(feature, finding);
        if (isFit) hardening.record.noteFit(feature);
      }
      done(isStruck);
    });
  }

  /** Asks all at once, in random order; replies in that of the questions. */
  private probeAll(
    asked: readonly (readonly [Question, HardeningFeature | null])[],
    done: (replies: readonly ProbeReply[]) => void,
  ): void {
    const { clock } = this.parts;
    const startedMs = clock.monotonicMs();
    const replies: ProbeReply[] = [];
    const probes: CapabilityProbe[] = [];
    let pending = asked.length;
    const order = asked.map((_, i) => i);
    if (randomBytes(1)[0]! < 0x80) order.reverse();
    for (const i of order) {
      const [question, feature] = asked[i]!;
      const probe = new CapabilityProbe(this.parts, question, feature, PROBE_MS, (reply) => {
        this.inFlight.delete(probe);
        replies[i] = reply;
        if (--pending === 0) done(replies);
        else if (isAnswered(reply)) {
          const tookMs = clock.monotonicMs() - startedMs;
          for (const other of probes) other.hurry(Math.max(MIN_PATIENCE_MS, PATIENCE_TIMES * tookMs));
        }
      });
      probes.push(probe);
      this.inFlight.add(probe);
    }
  }

  /** After all features: the probe over TCP, then the time of the next probes. */
  private conclude(isConclusive: boolean): void {
    const { record } = this.parts.hardening;
    const renewalSecs = Math.round(RENEWAL_SECS * (1 - Math.random() / 10));
    const end = (finding: 'supported' | 'refused' | 'silent'): void => {
      clearTimeout(timer);
      this.timers.delete(timer);
      this.inFlight.delete(exchange);
      record.note('tcp', finding);
      record.scheduleProbes(isConclusive ? renewalSecs : RETRY_SECS);
    };
    const exchange = this.parts.askTcp(this.parts.question, (outcome) =>
      end(isLost(outcome) ? 'refused' : 'supported'),
    );
    this.inFlight.add(exchange);
    const timer = this.after(TCP_PROBE_MS, () => {
      exchange.cancel();
      end('silent');
    });
  }

  private after(delayMs: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      run();
    }, delayMs).unref();
    this.timers.add(timer);
    return timer;
  }
}

/** The question for a random name below that of another. */
function belowOf(question: Question): Question {
  const label = randomBytes(LABEL_OCTETS).toString('hex');
  const qname = Buffer.concat([Buffer.from([label.length]), Buffer.from(label), question.qname]);
  return qname.length > MAX_NAME_LENGTH ? question : { ...question, qname };
}
