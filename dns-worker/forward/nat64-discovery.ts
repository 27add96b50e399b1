/**
 * Learns the NAT64 prefixes of the pools (RFC 7050 section 3) when they are needed: before an answer is blocked for a
 * private IPv6 address. In networks without NAT64, the query for prefixes is repeated only occasionally.
 */
import type { Clock } from '../../shared/clock.ts';
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { hasPrivateAddress } from '../cache/private-addresses.ts';
import type { FlightOutcome } from '../resolve/node-flights.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import type { Question } from '../resolve/response/question.ts';
import { NO_PREFIXES, type Nat64Prefix, prefixesIn } from '../cache/nat64-prefix.ts';

const QUESTION: Question = {
  qname: nameFromText('ipv4only.arpa')!,
  qtype: RRType.AAAA,
  qclass: RRClass.IN,
  dnssecOk: false,
  checkingDisabled: false,
  ecs: null,
};
/**
 * Minimum lifetime of an answer regardless of its TTL, which is also the lifetime of a failure; and maximum lifetime.
 */
const MIN_FRESH_MS = 600_000;
const MAX_FRESH_MS = 86_400_000;
const FAILED_MS = 60_000;

/** Function that resolves a question through the pools. */
export type AskPools = (question: Question, done: (outcome: FlightOutcome) => void) => void;

/** The NAT64 prefixes that one resolve thread knows. */
export class Nat64Discovery {
  /** The prefixes learned last. */
  prefixes: readonly Nat64Prefix[] = NO_PREFIXES;
  private readonly clock: Clock;
  private freshUntilMs = -Infinity;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether `learn` may find that the private address in an answer of the pools is a NAT64 address. */
  mustLearn(qtype: number, answer: CacheableAnswer): boolean {
    return (
      qtype === RRType.AAAA &&
      this.clock.monotonicMs() >= this.freshUntilMs &&
      hasPrivateAddress(answer, this.prefixes)
    );
  }

  /** Queries the prefixes. `done` is always called once; after that, `mustLearn` returns false. */
  learn(ask: AskPools, done: () => void): void {
    ask(QUESTION, (outcome) => {
      this.take(outcome);
      done();
    });
  }

  /** Clears the prefixes: other servers may use another NAT64. */
  clear(): void {
    this.prefixes = NO_PREFIXES;
    this.freshUntilMs = -Infinity;
  }

  private take(outcome: FlightOutcome): void {
    const resolution = outcome.kind === 'elsewhere' ? outcome.resolution : outcome;
    let freshMs = FAILED_MS;
    if (resolution?.kind === 'answer') {
      this.prefixes = prefixesIn(resolution.answer);
      freshMs = Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, resolution.answer.minTtlSecs * 1000));
    }
    this.freshUntilMs = this.clock.monotonicMs() + freshMs;
  }
}
