/**
 * Tests with probes whether a server supports cookies and mixed case, independently of health checks and clients'
 * queries. A feature is enabled after three successful probes in a row, for a name that exists and a random name below
 * it. A feature is disabled after two pairs of probes in which only the plain query was answered. A failing question
 * starts pairs of probes; until they have a result, the question is sent again only without features or over TCP. One
 * prober per server and thread; findings are in the record that all threads share.
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

/** Successful probes in a row that enable a feature. */
const ROUNDS = 3;
/** Maximum wait for a probe, in milliseconds. */
const PROBE_MS = 1000;
/** After the plain query of a pair is answered, the other query has this many times as long, and at least this time. */
const TIMEOUT_FACTOR = 4;
const MIN_TIMEOUT_MS = 250;
/**
 * Findings expire after an hour and are renewed after this many seconds, minus up to a tenth, so that nodes do not
 * probe at the same time.
 */
const RENEWAL_SECS = 2700;
/** Seconds after which a server that could not be probed is probed again. */
const RETRY_SECS = 60;
/** Seconds for which other threads leave the probes to this thread. */
const LEASE_SECS = 30;
/** Timeout of the probe over TCP, in milliseconds. */
const TCP_PROBE_MS = 2000;
/** Size of the random label in bytes, written as hexadecimal digits: some are letters, which have a case. */
const LABEL_OCTETS = 8;

export interface ProberParts extends ProbeParts {
  /** Sends a query over TCP. */
  askTcp(question: Question, done: ExchangeDone): Exchange;
  /** A question that the server must answer with NOERROR. */
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

  /** Probes the server if probes are due; called for each query. */
  check(): void {
    const { hardening } = this.parts;
    const { record, wanted } = hardening;
    if (wanted.length === 0 || !record.isProbeDue || this.isClosed) return;
    if (record.claimProbes(LEASE_SECS)) this.earnNext(wanted, true);
  }

  /**
   * Reports that queries with these features fail: compares probes with these features with the plain probe, at most
   * once a second on the node.
   */
  suspect(features: readonly HardeningFeature[]): void {
    if (this.isPairing || this.isClosed || features.length === 0) return;
    const { record } = this.parts.hardening;
    if (!record.claimPair()) return;
    this.pair(features, () => {
      const struck = features.filter((feature) => record.isStruck(feature));
      if (struck.length > 0) this.after(PAIR_INTERVAL_MS, () => this.suspect(struck));
    });
  }

  /** Cancels probes in flight. */
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

  /** Probes a feature for `rounds` more rounds; the first round with cookies only fetches the server cookie. */
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

  /** Compares a feature that was not enabled with the plain query until two pairs fail, or one succeeds. */
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

  /**
   * Sends one query for each feature and the plain query, in random order; `done` receives whether a feature has
   * failed.
   */
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
        // A server without cookie support that omits the option answers correctly.
        const isFit = finding === 'supported' || (finding === 'unsupported' && !hardening.isEarned(feature));
        isStruck ||= finding !== 'supported';
        if (finding !== 'supported') hardening.record.strike(feature, finding);
        if (isFit) hardening.record.noteFit(feature);
      }
      done(isStruck);
    });
  }

  /** Sends all queries together, in random order; returns the replies in the order of the questions. */
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
          for (const other of probes) other.expedite(Math.max(MIN_TIMEOUT_MS, TIMEOUT_FACTOR * tookMs));
        }
      });
      probes.push(probe);
      this.inFlight.add(probe);
    }
  }

  /** After all features, probes TCP, then schedules the next probes. */
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

/** The question for a random name below the name of another question. */
function belowOf(question: Question): Question {
  const label = randomBytes(LABEL_OCTETS).toString('hex');
  const qname = Buffer.concat([Buffer.from([label.length]), Buffer.from(label), question.qname]);
  return qname.length > MAX_NAME_LENGTH ? question : { ...question, qname };
}
