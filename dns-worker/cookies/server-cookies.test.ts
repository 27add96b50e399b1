import { describe, expect, test } from '@jest/globals';
import {
  COOKIE_KEY_LIFE_SECS,
  COOKIE_KEYS_BYTES,
  CookieKeyLayout,
} from '../../shared/memory/cookie-key-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { query as messageOf } from '../../test/support/dns/dns-message.ts';
import { cookiesAt } from '../../test/support/parts/cookies-of-tests.ts';
import { ParseOutcome, parseQuery } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import { ServerCookies } from './server-cookies.ts';

const CLIENT = '198.51.100.100';
const CLIENT_COOKIE = '2464c4abcf10c957';
const NOW_SECS = 1_800_000_000;

interface Request {
  /** Data of the option, in hexadecimal. */
  readonly cookie: string;
  readonly client?: string;
  readonly atSecs?: number;
  readonly version?: number;
}

/**
 * Reads a request; returns whether it is well-formed, the cookie of the reply, and whether the received cookie was
 * valid.
 */
function read(
  cookies: ServerCookies,
  { cookie, client = CLIENT, atSecs = NOW_SECS, version = 0 }: Request,
): { isGood: boolean; reply: string; isValid: boolean } {
  const message = messageOf('example.com', 'A', { edns: { cookie: Buffer.from(cookie, 'hex'), version } });
  const bytes = new Uint8Array(512);
  bytes.set(message);
  const query = new Query();
  query.clientBytes = addressFromText(client)!;
  query.arrivedSecs = atSecs;
  query.begin(bytes, 0, message.length, bytes.length);
  expect(parseQuery(query, 1, 2)).toBe(ParseOutcome.OK);
  const isGood = cookies.read(query);
  const reply = Buffer.from(query.copyCookie() ?? []).toString('hex');
  return { isGood, reply, isValid: query.hasValidCookie };
}

/** Server cookies with these keys; each is the key of one day. */
function cookiesOf(...secrets: readonly { hex: string; atSecs: number }[]): ServerCookies {
  const memory = new SharedArrayBuffer(COOKIE_KEYS_BYTES);
  const words = new Int32Array(memory);
  for (const { hex, atSecs } of secrets) {
    const day = Math.floor(atSecs / COOKIE_KEY_LIFE_SECS);
    const slot = (day % CookieKeyLayout.SLOTS) * CookieKeyLayout.SLOT_WORDS;
    words[slot + CookieKeyLayout.DAY_WORD] = day;
    words.set(
      new Int32Array(Uint8Array.from(Buffer.from(hex, 'hex')).buffer),
      slot + CookieKeyLayout.KEY_WORD,
    );
  }
  return new ServerCookies(memory);
}

describe('ServerCookies with the test vectors of RFC 9018, appendix A', () => {
  const secret = 'e5e973e5a6b2a43f48e7dc849e37bfcf';
  const first = 1_559_731_985;

  test('A.1: a client learns its first server cookie', () => {
    const cookies = cookiesOf({ hex: secret, atSecs: first });
    expect(read(cookies, { cookie: CLIENT_COOKIE, atSecs: first })).toEqual({
      isGood: true,
      isValid: false,
      reply: '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
    });
  });

  test('A.2: the same client gets a new server cookie after 40 minutes', () => {
    const cookies = cookiesOf({ hex: secret, atSecs: first });
    const cookie = '2464c4abcf10c957010000005cf79f111f8130c3eee29480';
    expect(read(cookies, { cookie, atSecs: 1_559_734_385 })).toEqual({
      isGood: true,
      isValid: true,
      reply: '2464c4abcf10c957010000005cf7a871d4a564a1442aca77',
    });
  });

  test('A.3: reserved bytes of a cookie are hashed as received', () => {
    const cookies = cookiesOf({ hex: secret, atSecs: first });
    const client = '203.0.113.203';
    const cookie = 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5';
    expect(read(cookies, { client, cookie, atSecs: 0x5cf78f71 + 60 })).toMatchObject({ isValid: true });
    expect(read(cookies, { client, cookie, atSecs: 1_559_734_700 })).toMatchObject({
      reply: 'fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e',
    });
  });

  test('A.4: a client gets a server cookie over IPv6, and after a change of the secret', () => {
    const client = '2001:db8:220:1:59de:d0f4:8769:82b8';
    const cookie = '22681ab97d52c298010000005cf7c57926556bd0934c72f8';
    const old = cookiesOf({ hex: 'dd3bdf9344b678b185a6f5cb60fca715', atSecs: first });
    expect(read(old, { client, cookie, atSecs: 1_559_741_961 })).toMatchObject({ isValid: true });
    const renewed = cookiesOf({ hex: '445536bcd2513298075a5d379663c962', atSecs: first });
    expect(read(renewed, { client, cookie, atSecs: 1_559_741_961 })).toEqual({
      isGood: true,
      isValid: false,
      reply: '22681ab97d52c298010000005cf7c609a6bb79d16625507a',
    });
  });
});

describe('ServerCookies (DNS cookies)', () => {
  const cookies = cookiesAt(NOW_SECS);
  const given = read(cookies, { cookie: CLIENT_COOKIE }).reply;

  test.each([
    [0, true, true],
    [1799, true, true],
    [1800, true, false],
    [3600, true, false],
    [3601, false, false],
    [-300, true, true],
    [-301, false, false],
  ])('read() of a server cookie %d s old: valid %s, returned unchanged %s', (ageSecs, isValid, isKept) => {
    const outcome = read(cookies, { cookie: given, atSecs: NOW_SECS + ageSecs });
    expect([outcome.isValid, outcome.reply === given]).toEqual([isValid, isKept]);
    expect(outcome.reply).toHaveLength(48);
  });

  test('read() accepts a server cookie only for its client cookie, address and secret', () => {
    expect(read(cookies, { cookie: given }).isValid).toBe(true);
    expect(read(cookies, { cookie: given, client: '198.51.100.101' }).isValid).toBe(false);
    expect(read(cookies, { cookie: given, client: '::198.51.100.100' }).isValid).toBe(false);
    expect(read(cookiesAt(NOW_SECS), { cookie: given }).isValid).toBe(false);
    for (let at = 0; at < given.length; at++) {
      const changed = given.slice(0, at) + (given[at] === '0' ? '1' : '0') + given.slice(at + 1);
      expect(read(cookies, { cookie: changed }).isValid).toBe(false);
    }
  });

  test('read() accepts a server cookie that another node with the same secret issued, even on the day before', () => {
    const midnightSecs = Math.ceil(NOW_SECS / COOKIE_KEY_LIFE_SECS) * COOKIE_KEY_LIFE_SECS;
    const secret = new Uint8Array(32).fill(7);
    const before = read(cookiesAt(midnightSecs - 60, secret), {
      cookie: CLIENT_COOKIE,
      atSecs: midnightSecs - 60,
    });
    const after = cookiesAt(midnightSecs + 60, secret);
    expect(read(after, { cookie: before.reply, atSecs: midnightSecs + 60 }).isValid).toBe(true);
    const first = read(after, { cookie: CLIENT_COOKIE, atSecs: midnightSecs });
    expect(read(after, { cookie: first.reply, atSecs: midnightSecs - 60 }).isValid).toBe(true);
  });

  test('read() accepts the query without a reply cookie if there is no secret for the day', () => {
    const none = new ServerCookies(new SharedArrayBuffer(COOKIE_KEYS_BYTES));
    expect(read(none, { cookie: given })).toEqual({ isGood: true, isValid: false, reply: '' });
    expect(read(none, { cookie: given, atSecs: 0 })).toEqual({ isGood: true, isValid: false, reply: '' });
  });

  test('read() rejects the cookie lengths that RFC 7873 section 5.2.2 calls malformed, and no others', () => {
    const good = Array.from({ length: 60 }, (_, length) => length).filter(
      (length) => read(cookies, { cookie: '07'.repeat(length) }).isGood,
    );
    expect(good).toEqual([8, ...Array.from({ length: 25 }, (_, i) => 16 + i)]);
  });

  test('read() answers a server cookie of a different valid length with a new cookie', () => {
    const outcome = read(cookies, { cookie: given + '00' });
    expect(outcome).toEqual({ isGood: true, isValid: false, reply: given });
  });

  test('read() ignores cookie options of another EDNS version', () => {
    expect(read(cookies, { cookie: '07', version: 1 })).toEqual({ isGood: true, isValid: false, reply: '' });
  });
});
