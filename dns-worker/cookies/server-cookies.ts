/**
 * DNS server cookies (RFC 7873) in the interoperable form of RFC 9018: a client that returns the cookie that was sent
 * to its address proves that it receives packets there. Requests without a cookie are accepted; `rate-limiter.ts`
 * counts clients with a valid cookie separately from clients whose address may be forged.
 */
import { COOKIE_KEY_LIFE_SECS, CookieKeyLayout as L } from '../../shared/memory/cookie-key-layout.ts';
import { findOption, NO_OPTION, OPTION_HEAD_SIZE } from '../../shared/dns/edns-option.ts';
import { EdnsOption } from '../../shared/dns/iana.ts';
import { COOKIE_SIZE, readU16, readU32, writeU32 } from '../../shared/dns/wire.ts';
import { isMappedIpv4 } from '../../shared/net/ip.ts';
import type { Query } from '../query/query.ts';
import { sipHash } from './siphash.ts';

/** Offsets in the option's data: the client cookie, then the server cookie. */
const Cookie = {
  CLIENT_SIZE: 8,
  VERSION: 8,
  TIMESTAMP: 12,
  HASH: 16,
  SIZE: COOKIE_SIZE,
} as const;

/** Limits for the length of the option's data, unless it is only a client cookie (RFC 7873 section 5.2.2). */
const MIN_SIZE_WITH_SERVER = 16;
const MAX_SIZE_WITH_SERVER = 40;
const VERSION = 1;
/**
 * Maximum age of a cookie, maximum distance of its timestamp in the future, and age at which it is renewed (RFC 9018
 * section 4.3), in seconds.
 */
const MAX_AGE_SECS = 3600;
const MAX_AHEAD_SECS = 300;
const RENEW_AGE_SECS = 1800;
/** Bytes that are hashed before the client's address: both cookies without the hash. */
const HASHED_HEAD = 16;

/** Reads cookies in requests and creates cookies for replies. Each thread has one. */
export class ServerCookies {
  private readonly keys: Int32Array;
  private readonly message = new Uint8Array(new ArrayBuffer(HASHED_HEAD + 16 + 8));
  private readonly messageWords = new Int32Array(this.message.buffer);
  private readonly hash = new Int32Array(2);

  /** `keys` has the layout of `CookieKeyLayout`. */
  constructor(keys: SharedArrayBuffer) {
    this.keys = new Int32Array(keys);
  }

  /**
   * Reads the cookie option of a parsed request into the query: the cookie for the reply, and whether the client's
   * server cookie was valid. False if the option is malformed; the caller then answers FORMERR.
   */
  read(query: Query): boolean {
    // The format of options of other EDNS versions is unknown.
    if (!query.hasEdns || query.optionsAt === query.optionsEnd || query.ednsVersion !== 0) return true;
    // Further cookie options are ignored (RFC 7873 section 5.2).
    const option = findOption(query.bytes, query.optionsAt, query.optionsEnd, EdnsOption.COOKIE);
    if (option < 0) return option === NO_OPTION;
    const at = option + OPTION_HEAD_SIZE;
    const length = readU16(query.bytes, option + 2);
    if (length !== Cookie.CLIENT_SIZE && (length < MIN_SIZE_WITH_SERVER || length > MAX_SIZE_WITH_SERVER))
      return false;
    this.answer(query, at, length);
    return true;
  }

  /** Sets the cookie of the reply: the received cookie if it is recent, or a new one; no cookie without a key. */
  private answer(query: Query, at: number, length: number): void {
    const { bytes, cookie } = query;
    const isKnown = length === Cookie.SIZE && bytes[at + Cookie.VERSION] === VERSION;
    const taken = isKnown ? Cookie.SIZE : Cookie.CLIENT_SIZE;
    for (let i = 0; i < taken; i++) cookie[i] = bytes[at + i]!;
    if (isKnown) {
      // Serial arithmetic (RFC 1982): the cookie's timestamp wraps around.
      const ageSecs = (query.arrivedSecs - readU32(cookie, Cookie.TIMESTAMP)) | 0;
      const isTimely = ageSecs <= MAX_AGE_SECS && ageSecs >= -MAX_AHEAD_SECS;
      query.hasValidCookie = isTimely && this.isGenuine(query, query.arrivedSecs - ageSecs);
      if (query.hasValidCookie && ageSecs < RENEW_AGE_SECS) {
        query.cookieLength = Cookie.SIZE;
        return;
      }
    }
    this.makeCookie(query);
  }

  private isGenuine(query: Query, madeSecs: number): boolean {
    if (!this.hashCookie(query, madeSecs)) return false;
    const { hash } = this;
    for (let i = 0, wrong = 0; ; i++) {
      if (i === 8) return wrong === 0;
      wrong |= query.cookie[Cookie.HASH + i]! ^ ((hash[i >>> 2]! >>> ((i & 3) << 3)) & 0xff);
    }
  }

  private makeCookie(query: Query): void {
    const { cookie, arrivedSecs } = query;
    writeU32(cookie, Cookie.VERSION, VERSION << 24);
    writeU32(cookie, Cookie.TIMESTAMP, arrivedSecs);
    if (!this.hashCookie(query, arrivedSecs)) return;
    const { hash } = this;
    for (let i = 0; i < 8; i++) cookie[Cookie.HASH + i] = hash[i >>> 2]! >>> ((i & 3) << 3);
    query.cookieLength = Cookie.SIZE;
  }

  /** Hashes the cookie and the client's address with the key of the cookie's day; false without a key for that day. */
  private hashCookie({ cookie, clientBytes, clientAt }: Query, atSecs: number): boolean {
    const { keys, message, messageWords, hash } = this;
    const day = Math.floor(atSecs / COOKIE_KEY_LIFE_SECS);
    const slot = (day % L.SLOTS) * L.SLOT_WORDS;
    if (day <= 0 || keys[slot + L.DAY_WORD] !== day) return false;
    for (let i = 0; i < HASHED_HEAD; i++) message[i] = cookie[i]!;
    const skipped = isMappedIpv4(clientBytes, clientAt) ? 12 : 0;
    const length = HASHED_HEAD + 16 - skipped;
    for (let i = skipped; i < 16; i++) message[HASHED_HEAD + i - skipped] = clientBytes[clientAt + i]!;
    message.fill(0, length);
    sipHash(keys, slot + L.KEY_WORD, messageWords, length, hash);
    return true;
  }
}
