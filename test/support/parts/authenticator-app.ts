/**
 * An authenticator app: it stores a secret and generates codes. The server generates random secrets; with about one in
 * a million, the same code appears twice around the current time. Tests that need a wrong or used code do not use a
 * secret with equal codes.
 */
import { codeOfStep, stepAt } from '../../../control-plane/web/auth/second-factor/totp.ts';
import type { Clock } from '../../../shared/clock.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Number of time steps before and after the current step whose codes tests use. */
const BEHIND = 3;
const AHEAD = 12;

/** Generates the codes of one secret. */
export class AuthenticatorApp {
  /** Secret in Base32. */
  readonly secret: string;
  private readonly clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.secret = secret;
    this.clock = clock;
  }

  /** Whether all codes around the current time differ. */
  get hasDistinctCodes(): boolean {
    const codes = Array.from({ length: BEHIND + 1 + AHEAD }, (_, at) => this.code(at - BEHIND));
    return new Set(codes).size === codes.length;
  }

  /** A code that is not valid at any time step around the current one. */
  wrongCode(): string {
    const right = Array.from({ length: BEHIND + 1 + BEHIND }, (_, at) => this.code(at - BEHIND));
    return Array.from({ length: right.length + 1 }, (_, at) => `00000${at}`).find(
      (code) => !right.includes(code),
    )!;
  }

  /** The current code, or the code this many steps ahead. */
  code(ahead = 0): string {
    const bits = Array.from(this.secret, (letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0'));
    const bytes = bits
      .join('')
      .match(/.{8}/g)!
      .map((byte) => Number.parseInt(byte, 2));
    return codeOfStep(Buffer.from(bytes), stepAt(this.clock.nowMs()) + ahead);
  }
}
