/** When a certificate is renewed, and when an order is tried again. Pure. */
import type { CertificateFacts } from '../tls/certificate-pair.ts';

/** Share of the validity that is left at the renewal. */
const LEFT_SHARE = 1 / 3;
const HOUR_MS = 3_600_000;
const LONGEST_PAUSE_MS = 24 * HOUR_MS;
/**
 * Maximum random extension of a pause, as a share of it, so that many servers do not send requests at the same time.
 */
const JITTER = 0.25;

/** Unix milliseconds from which a certificate is renewed. */
export function renewalMs({ notBefore, notAfter }: Pick<CertificateFacts, 'notBefore' | 'notAfter'>): number {
  const lifeMs = notAfter.getTime() - notBefore.getTime();
  return notAfter.getTime() - lifeMs * LEFT_SHARE;
}

/** Unix milliseconds of the next attempt after `failures` failed attempts; `random` is from 0 to 1. */
export function nextAttemptMs(nowMs: number, failures: number, random: number): number {
  const pauseMs = Math.min(HOUR_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  return nowMs + pauseMs * (1 + JITTER * random);
}
