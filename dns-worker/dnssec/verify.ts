/**
 * Verifies one signature. Handing it to a thread of libuv's pool costs about as much CPU as verifying it, so it is
 * verified in place, except what would delay others: all beyond a millisecond per turn of the event loop, slow
 * algorithms, and whatever a question still asks for after a signature has failed (KeyTrap).
 */
import { verify, type VerifyKeyObjectInput } from 'node:crypto';
import { algorithmOf } from './algorithms.ts';
import type { Budget } from './budget.ts';
import type { Dnskey } from './dnskey.ts';
import type { Rrsig } from './rrsig.ts';

/** Milliseconds of one turn of the event loop after which nothing more is verified in place. */
const TURN_MS = 1;

/** ECDSAP384SHA384: OpenSSL has fast code for P-256 only, so that verifying takes ten times as long as a hand-over. */
const SLOW_ALGORITHM = 14;

/** Time spent in this thread's current turn. */
let spentMs = 0;
let isCounting = false;

function endTurn(): void {
  spentMs = 0;
  isCounting = false;
}

/**
 * Whether the key made the signature over this data. Reads `data` before it returns. At once (`Budget.isAtOnce`) a
 * signature of a slow algorithm is not verified.
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
    return false; // OpenSSL rejects the key or the form of the signature.
  }
}
