import { describe, expect, test } from '@jest/globals';
import { COOKIE_KEY_LIFE_SECS, CookieKeyLayout as L } from '../../shared/memory/cookie-key-layout.ts';
import { CookieKeys } from './cookie-keys.ts';

const TODAY = 20_000;
const SECRET = new Uint8Array(32).fill(1);
const OTHER = new Uint8Array(32).fill(2);

/** The existing keys, by day. */
function keysOf(keys: CookieKeys): Map<number, string> {
  const words = new Int32Array(keys.memory);
  const found = new Map<number, string>();
  for (let slot = 0; slot < words.length; slot += L.SLOT_WORDS)
    if (words[slot + L.DAY_WORD] !== 0)
      found.set(
        words[slot + L.DAY_WORD]!,
        Buffer.from(words.slice(slot + L.KEY_WORD, slot + L.KEY_WORD + 4).buffer).toString('hex'),
      );
  return found;
}

function keysOn(day: number, secret = SECRET): CookieKeys {
  const keys = new CookieKeys(() => secret);
  keys.keepUp(day * COOKIE_KEY_LIFE_SECS + 5);
  return keys;
}

describe('CookieKeys', () => {
  test('contains a separate key for each day around today', () => {
    const keys = keysOf(keysOn(TODAY));
    expect([...keys.keys()].sort()).toEqual([-1, 0, 1, 2, 3, 4, 5].map((after) => TODAY + after));
    expect(new Set(keys.values()).size).toBe(7);
  });

  test('keepUp() keeps the keys of days that are still needed, whenever it is called', () => {
    const keys = keysOn(TODAY);
    const before = keysOf(keys);
    keys.keepUp((TODAY + 1) * COOKIE_KEY_LIFE_SECS);
    const after = keysOf(keys);
    for (const day of [TODAY, TODAY + 1, TODAY + 5]) expect(after.get(day)).toBe(before.get(day));
    keys.keepUp((TODAY + 400) * COOKIE_KEY_LIFE_SECS);
    expect(keysOf(keys)).toEqual(expect.objectContaining(keysOf(keysOn(TODAY + 400))));
  });

  test('depends on the cluster secret only', () => {
    expect(keysOf(keysOn(TODAY))).toEqual(keysOf(keysOn(TODAY)));
    expect(keysOf(keysOn(TODAY, OTHER)).get(TODAY)).not.toBe(keysOf(keysOn(TODAY)).get(TODAY));
  });

  test('keepUp() replaces all keys when the secret changes', () => {
    let secret = SECRET;
    const keys = new CookieKeys(() => secret);
    const nowSecs = TODAY * COOKIE_KEY_LIFE_SECS;
    keys.keepUp(nowSecs);
    secret = OTHER;
    keys.keepUp(nowSecs);
    expect(keysOf(keys)).toEqual(keysOf(keysOn(TODAY, OTHER)));
  });
});
