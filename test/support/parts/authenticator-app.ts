/** An authenticator app: it has a secret, as people type it, and shows codes. */
import { codeOfStep, stepAt } from '../../../control-plane/auth/second-factor/totp.ts';
import type { Clock } from '../../../shared/clock.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Shows the codes of one secret. */
export class AuthenticatorApp {
  /** In Base32. */
  readonly secret: string;
  private readonly clock: Clock;

  constructor(secret: string, clock: Clock) {
    this.secret = secret;
    this.clock = clock;
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
