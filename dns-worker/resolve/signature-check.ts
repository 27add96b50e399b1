/**
 * Finds out whether a server removes DNSSEC signatures. A bogus answer may be the domain's fault, so it proves nothing
 * about the server, but starts this check: the server is queried for the keys of a zone with a trust anchor, which are
 * always signed. A server that fails the check is queried after all others for an hour.
 */
import type { Clock } from '../../shared/clock.ts';
import { RRClass, RRType, Rcode } from '../../shared/dns/iana.ts';
import type { Logger } from '../../shared/log.ts';
import type { CacheableAnswer } from './response/cacheable-answer.ts';
import { eachAnswerRecord } from './response/each-record.ts';
import type { AttemptOutcome } from './transport/attempt.ts';
import type { Upstream, UpstreamAttempt } from './upstream.ts';

/** Minimum time between two checks of a server: clients can cause checks. */
const BETWEEN_MS = 10_000;
const TIMEOUT_MS = 2000;
/** Lifetime of a finding; after that, the next bogus answer starts another check. */
const FINDING_LIFETIME_MS = 3_600_000;

/** Checks one server. */
export class SignatureCheck {
  private readonly upstream: Upstream;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private nextMs = 0;
  private attempt: UpstreamAttempt | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(upstream: Upstream, clock: Clock, logger: Logger) {
    this.upstream = upstream;
    this.clock = clock;
    this.logger = logger;
  }

  /** Queries the keys of a zone with a trust anchor (lower-case wire form), unless a check was made recently. */
  run(zone: Uint8Array): void {
    const nowMs = this.clock.monotonicMs();
    if (this.attempt !== null || nowMs < this.nextMs) return;
    this.nextMs = nowMs + BETWEEN_MS;
    const question = {
      qname: zone,
      qtype: RRType.DNSKEY,
      qclass: RRClass.IN,
      ecs: null,
      dnssecOk: true,
      checkingDisabled: true,
    };
    const attempt = this.upstream.probe(question, (_attempt, outcome) => {
      this.end();
      this.evaluate(outcome);
    });
    this.attempt = attempt;
    this.timer = setTimeout(() => this.close(), TIMEOUT_MS).unref();
  }

  /** Cancels a check in flight. */
  close(): void {
    this.attempt?.cancel();
    this.end();
  }

  private end(): void {
    clearTimeout(this.timer);
    this.attempt = null;
  }

  private evaluate(outcome: AttemptOutcome): void {
    if (outcome.kind !== 'answer' || outcome.answer.rcode !== Rcode.NOERROR) return;
    const { upstream } = this;
    const wasRemoving = upstream.removesSignatures;
    const isRemoving = !hasSignature(outcome.answer);
    upstream.health.removesSignaturesUntilMs = isRemoving
      ? this.clock.monotonicMs() + FINDING_LIFETIME_MS
      : 0;
    if (isRemoving === wasRemoving) return;
    const fields = { upstream: upstream.settings.address };
    if (isRemoving) {
      upstream.health.recordDoubt('removes DNSSEC signatures');
      this.logger.warn('upstream removes DNSSEC signatures; other upstreams are preferred', fields);
    } else this.logger.info('upstream includes DNSSEC signatures again', fields);
  }
}

/** Whether an answer has a DNSSEC signature. */
export function hasSignature(answer: CacheableAnswer): boolean {
  for (const { type } of eachAnswerRecord(answer)) if (type === RRType.RRSIG) return true;
  return false;
}
