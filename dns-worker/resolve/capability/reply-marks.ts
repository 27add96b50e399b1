/**
 * The marks by which a UDP reply proves that its sender has seen the query: the letter case of the name
 * (draft-vixie-dnsext-dns0x20), and the client cookie (RFC 7873, RFC 9018).
 */
import { randomFillSync } from 'node:crypto';
import { findOption, NO_OPTION, OPTION_HEAD_SIZE, optionEnd } from '../../../shared/dns/edns-option.ts';
import { EdnsOption, RRType } from '../../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, Record, readU16, skipRecord } from '../../../shared/dns/wire.ts';
import type { QueryMarks } from '../response/query-marks.ts';
import { CLIENT_COOKIE_SIZE, MAX_SERVER_COOKIE_SIZE, MIN_SERVER_COOKIE_SIZE } from './capability-record.ts';

/** Result of checking the marks of a reply; any result except `repeated` may mean a forgery. */
export type MarksCheck = 'repeated' | 'changed case' | 'foreign cookie' | 'no cookie';

const randomBits = new Uint8Array(4096);
let nextRandomBits = randomBits.length;

/** A copy of a lower-case name with each letter in random case. */
export function inRandomCase(qname: Uint8Array): Uint8Array {
  if (nextRandomBits + 32 > randomBits.length) {
    randomFillSync(randomBits);
    nextRandomBits = 0;
  }
  const name = new Uint8Array(qname.length);
  for (let i = 0; i < qname.length; i++) {
    const octet = qname[i]!;
    const flip = (randomBits[nextRandomBits + (i >>> 3)]! >>> (i & 7)) & 1;
    // Label lengths are below the codes of letters, so this does not change length bytes.
    name[i] = flip === 1 && octet >= 0x61 && octet <= 0x7a ? octet ^ 0x20 : octet;
  }
  nextRandomBits += (qname.length + 7) >>> 3;
  return name;
}

/**
 * Checks the marks of a response that is known to match the question. If the query had no server cookie, the server may
 * omit the option. A cookie in the response to a query without a cookie is ignored.
 */
export function checkMarks(message: Uint8Array, { name, cookie }: QueryMarks): MarksCheck {
  if (cookie !== null) {
    const repeated = findCookie(message, name.length);
    if (repeated === null && cookie.length > CLIENT_COOKIE_SIZE) return 'no cookie';
    if (repeated !== null && !isAnswerTo(repeated, cookie)) return 'foreign cookie';
  }
  return hasName(message, name) ? 'repeated' : 'changed case';
}

/**
 * The server cookie in a reply that repeats the marks; null if there is none, or if the query already contained the
 * same cookie.
 */
export function serverCookieIn(message: Uint8Array, { name, cookie }: QueryMarks): Uint8Array | null {
  const repeated = cookie === null ? null : findCookie(message, name.length);
  return repeated === null || repeated.length === CLIENT_COOKIE_SIZE
    ? null
    : repeated.slice(CLIENT_COOKIE_SIZE);
}

function hasName(message: Uint8Array, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (message[Header.SIZE + i] !== name[i]) return false;
  return true;
}

/**
 * RFC 7873 section 5.3: our client cookie must be repeated, and the length must be valid. A server that echoes every
 * option returns our client cookie alone, which also proves that it has seen the query.
 */
function isAnswerTo(cookie: Uint8Array, ours: Uint8Array): boolean {
  const serverSize = cookie.length - CLIENT_COOKIE_SIZE;
  if (serverSize !== 0 && (serverSize < MIN_SERVER_COOKIE_SIZE || serverSize > MAX_SERVER_COOKIE_SIZE))
    return false;
  for (let i = 0; i < CLIENT_COOKIE_SIZE; i++) if (cookie[i] !== ours[i]) return false;
  return true;
}

const BROKEN = new Uint8Array(0);

/** The cookie option of a response with a qname of this length; null = none, empty = unreadable. */
function findCookie(message: Uint8Array, qnameLength: number): Uint8Array | null {
  let at = Header.SIZE + qnameLength + QUESTION_TAIL_SIZE;
  const before = readU16(message, Header.ANCOUNT) + readU16(message, Header.NSCOUNT);
  const records = before + readU16(message, Header.ARCOUNT);
  for (let i = 0; i < records; i++) {
    const next = skipRecord(message, at, message.length);
    if (next < 0) return null;
    const isOpt = i >= before && message[at] === 0 && readU16(message, at + 1) === RRType.OPT;
    if (isOpt) return cookieIn(message, at + 1 + Record.RDATA, next);
    at = next;
  }
  return null;
}

function cookieIn(message: Uint8Array, start: number, end: number): Uint8Array | null {
  const at = findOption(message, start, end, EdnsOption.COOKIE);
  if (at === NO_OPTION) return null;
  return at < 0 ? BROKEN : message.subarray(at + OPTION_HEAD_SIZE, optionEnd(message, at));
}
