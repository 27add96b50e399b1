/**
 * Keys of DNS server cookies: one per day, derived from the cluster secret, so that each node accepts the cookies of
 * all nodes. The keys are in memory that all threads share, so that the replacement of a thread uses the same keys.
 */
import {
  COOKIE_KEY_LIFE_SECS,
  COOKIE_KEYS_BYTES,
  CookieKeyLayout as L,
} from '../../shared/memory/cookie-key-layout.ts';
import { deriveKey } from '../storage/cluster/cluster-secret.ts';

const KEY_BYTES = 16;
/**
 * Number of days before and after today for which there are keys, because cookies are accepted for an hour, and the
 * clock may jump.
 */
const DAYS_BEFORE = 1;
const DAYS_AFTER = 5;

/** Writes the daily keys ahead of time. One per node. */
export class CookieKeys {
  /** Keys for the threads, in the layout of `CookieKeyLayout`. */
  readonly memory: SharedArrayBuffer = new SharedArrayBuffer(COOKIE_KEYS_BYTES);
  private readonly words = new Int32Array(this.memory);
  private readonly secretNow: () => Uint8Array;
  private secret: Uint8Array | undefined;
  private today = -1;

  /** `secretNow` must return the same object as long as the secret does not change. */
  constructor(secretNow: () => Uint8Array) {
    this.secretNow = secretNow;
  }

  /** Ensures that there are keys for the days around `nowSecs` (Unix seconds); fast if the day has not changed. */
  keepUp(nowSecs: number): void {
    const today = Math.floor(nowSecs / COOKIE_KEY_LIFE_SECS);
    const secret = this.secretNow();
    if (today === this.today && secret === this.secret) return;
    if (secret !== this.secret) this.words.fill(0);
    this.secret = secret;
    this.today = today;
    for (let day = today - DAYS_BEFORE; day <= today + DAYS_AFTER; day++) this.write(day, secret);
  }

  private write(day: number, secret: Uint8Array): void {
    const slot = (day % L.SLOTS) * L.SLOT_WORDS;
    if (day <= 0 || this.words[slot + L.DAY_WORD] === day) return;
    const key = deriveKey(secret, `dns cookie ${String(day)}`, KEY_BYTES);
    Atomics.store(this.words, slot + L.DAY_WORD, 0);
    this.words.set(new Int32Array(key.buffer), slot + L.KEY_WORD);
    Atomics.store(this.words, slot + L.DAY_WORD, day);
  }
}
