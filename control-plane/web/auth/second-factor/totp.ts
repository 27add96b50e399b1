/** One-time codes by time (RFC 6238) over HMAC-SHA-1, as every authenticator app makes them. Pure. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
/** Steps before and behind the current one whose codes are taken: clocks differ, and people type slowly. */
const TOLERATED_STEPS = 1;
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret, as long as the hash (RFC 4226 section 4). */
export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The number of the time step of a moment. */
export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS);
}

/** The code of a step (RFC 4226 section 5.3). */
export function codeOfStep(secret: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  // Signed, as a machine without a clock starts in 1970, and the step before the first is also checked.
  counter.writeBigInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const at = mac[mac.length - 1]! & 0xf;
  const number = mac.readUInt32BE(at) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The newest step around now that has this code; null if none has. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | null {
  const given = Buffer.from(code);
  let found: number | null = null;
  for (let ahead = -TOLERATED_STEPS; ahead <= TOLERATED_STEPS; ahead++) {
    const step = stepAt(nowMs) + ahead;
    const right = Buffer.from(codeOfStep(secret, step));
    if (given.length === right.length && timingSafeEqual(given, right)) found = step;
  }
  return found;
}

/**
 * Whether a step may follow the newest one that was taken, so that no code is taken twice. A step beyond all that can be
 * taken now was stored while the clock was ahead, and does not count.
 */
export function isUnused(step: number, lastStep: number | null, nowMs: number): boolean {
  return lastStep === null || step > lastStep || lastStep > stepAt(nowMs) + TOLERATED_STEPS;
}

/** A secret as people type it: Base32 without padding (RFC 4648 section 6). */
export function toBase32(bytes: Buffer): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(held >>> (bits - 5)) & 31]!;
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31]!;
}

/** The address that an authenticator app reads from a QR code. */
export function otpauthUri(secret: Buffer, username: string): string {
  const parameters = `secret=${toBase32(secret)}&issuer=Weir&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
  return `otpauth://totp/Weir:${encodeURIComponent(username)}?${parameters}`;
}
