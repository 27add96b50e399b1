/**
 * An authenticator app: it has a secret, as people type it, and shows codes. The server draws the secret: of a million
 * some have the same code twice around now, which is taken where a test wants a wrong one or one that is used up.
 */
import { codeOfStep, stepAt } from '../../../control-plane/web/auth/second-factor/totp.ts';
import type { Clock } from '../../../shared/clock.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Steps before and behind now whose codes tests ask for. */
const BEHIND = 3;
const AHEAD = 12;

/** Shows the codes of one secret. */
export class AuthenticatorApp {
  /** Secret in Base32. */
  readonly secret: string;
  private readonly clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.secret = secret;
    this.clock = clock;
  }

  /** Whether all codes around now differ. */
  get hasDistinctCodes(): boolean {
    const codes = Array.from({ length: BEHIND + 1 + AHEAD }, (_, at) => this.code(at - BEHIND));
    return new Set(codes).size === codes.length;
  }

  /** A code of no step around now. */
  wrongCode(): string {
    const right = Array.from({ length: BEHIND + 1 + BEHIND }, (_, at) => this.code(at - BEHIND));
    return Array.from({ length: right.length + 1 }, (_, at) => `00000${at}`).find(
      (code) => !right.includes(code),
    )!;
  }

  /** The code of now, or of so many steps ahead. */
  code(ahead = 0): string {
    const bits = Array.from(this.secret, (letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0'));
    const bytes = bits
      .join('')
      .match(/.{8}/g)!
      .map((byte) => Number.parseInt(byte, 2));
    return codeOfStep(Buffer.from(bytes), stepAt(this.clock.nowMs()) + ahead);
  }
}
