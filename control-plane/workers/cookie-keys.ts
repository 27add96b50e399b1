/**
 * Keys of DNS server cookies: one per day, drawn from a secret that is made when Weir starts and is never written
 * anywhere. They are in memory shared by all threads, so that a replaced thread continues with them.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import {
  COOKIE_KEY_LIFE_SECS,
  COOKIE_KEYS_BYTES,
  CookieKeyLayout as L,
} from '../../shared/memory/cookie-key-layout.ts';

const SECRET_BYTES = 32;
const KEY_BYTES = 16;
/** Days before and after today whose keys are there: cookies are taken for an hour, and clocks step. */
const DAYS_BEFORE = 1;
const DAYS_AFTER = 5;

/** Writes the daily keys ahead of time. One per node. */
export class CookieKeys {
  /** For the threads, laid out as `CookieKeyLayout` says. */
  readonly memory: SharedArrayBuffer = new SharedArrayBuffer(COOKIE_KEYS_BYTES);
  private readonly words = new Int32Array(this.memory);
  private readonly secret: Uint8Array;
  private today = -1;

  /** Nodes with the same secret derive the same keys. */
  constructor(secret: Uint8Array = randomBytes(SECRET_BYTES)) {
    this.secret = secret;
  }

  /** Ensures the keys of the days around `nowSecs` (since the epoch); cheap within one day. */
  keepUp(nowSecs: number): void {
    const today = Math.floor(nowSecs / COOKIE_KEY_LIFE_SECS);
    if (today === this.today) return;
    this.today = today;
    for (let day = today - DAYS_BEFORE; day <= today + DAYS_AFTER; day++) this.write(day);
  }

  private write(day: number): void {
    const slot = (day % L.SLOTS) * L.SLOT_WORDS;
    if (day <= 0 || this.words[slot + L.DAY_WORD] === day) return;
    const key = hkdfSync(
      'sha256',
      this.secret,
      new Uint8Array(0),
      `weir dns cookie ${String(day)}`,
      KEY_BYTES,
    );
    Atomics.store(this.words, slot + L.DAY_WORD, 0);
    this.words.set(new Int32Array(key), slot + L.KEY_WORD);
    Atomics.store(this.words, slot + L.DAY_WORD, day);
  }
}
