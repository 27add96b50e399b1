/**
 * Verifies one signature. Passing a signature to a libuv pool thread costs about as much CPU as verifying it, so
 * signatures are verified in place, unless that would delay other work: after a millisecond per turn of the event loop,
 * for slow algorithms, and for all later signatures of a question after one has failed (KeyTrap).
 */
import { verify, type VerifyKeyObjectInput } from 'node:crypto';
import { algorithmOf } from './algorithms.ts';
import type { Budget } from './budget.ts';
import type { Dnskey } from './dnskey.ts';
import type { Rrsig } from './rrsig.ts';

/** Milliseconds of verification in a turn of the event loop after which pool threads verify the rest. */
const TURN_MS = 1;

/**
 * ECDSAP384SHA384: OpenSSL is optimized for P-256 only, so that verifying a P-384 signature takes ten times as long as
 * passing it to a pool thread.
 */
const SLOW_ALGORITHM = 14;

/** Milliseconds spent on verification in the current turn of this thread's event loop. */
let spentMs = 0;
let isCounting = false;

function endTurn(): void {
  spentMs = 0;
  isCounting = false;
}

/**
 * Whether the key made the signature over this data. Reads `data` before it returns. With `Budget.isAtOnce`, signatures
 * of slow algorithms are not verified.
 */
export function isSignedBy(
  key: Dnskey,
  rrsig: Rrsig,
  data: Uint8Array,
  budget: Budget,
): boolean | Promise<boolean> {
  const algorithm = algorithmOf(key.algorithm);
  const input = key.verifyInput;
  if (algorithm === undefined || input === null) return false;
  const { digest } = algorithm;
  const { signature } = rrsig;
  const isSlow = key.algorithm === SLOW_ALGORITHM;
  if (budget.isAtOnce) return !isSlow && isValid(digest, data, input, signature);
  if (isSlow || budget.hasFailure || spentMs >= TURN_MS)
    return new Promise((resolve) => {
      verify(digest, data, input, signature, (error, isValid) => resolve(error === null && isValid));
    });
  if (!isCounting) {
    isCounting = true;
    setImmediate(endTurn);
  }
  const startedMs = performance.now();
  const result = isValid(digest, data, input, signature);
  spentMs += performance.now() - startedMs;
  return result;
}

function isValid(
  digest: string | null,
  data: Uint8Array,
  input: VerifyKeyObjectInput,
  signature: Uint8Array,
): boolean {
  try {
    return verify(digest, data, input, signature);
  } catch {
    return false; // OpenSSL rejects the key or the encoding of the signature.
  }
}
