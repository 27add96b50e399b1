/**
 * Layout of the keys of DNS server cookies (RFC 9018), in memory that all threads share: one key per day, so that a
 * cookie's timestamp identifies its key. The control plane (`cookie-keys.ts` there) writes each key days before it is
 * needed and keeps it for days afterwards, so that no thread reads a key while it is written.
 */

/** Layout of a slot in i32 words. The key of a day is in slot `day % SLOTS`. */
export const CookieKeyLayout = {
  SLOTS: 8,
  SLOT_WORDS: 8,
  /** The day of the key, in days since the epoch; 0 = none. */
  DAY_WORD: 0,
  /** Four words: the 16 bytes of the key. */
  KEY_WORD: 4,
} as const;

/** Bytes of the memory. */
export const COOKIE_KEYS_BYTES = CookieKeyLayout.SLOTS * CookieKeyLayout.SLOT_WORDS * 4;

/** Seconds for which a key is used for new cookies. */
export const COOKIE_KEY_LIFE_SECS = 86_400;
