/**
 * What a reply over UDP must prove beyond address, port and id: the letter case of the name as it was asked
 * (draft-vixie-dnsext-dns0x20), and the cookie (RFC 7873, RFC 9018) once the server has shown that it knows cookies.
 * One per server address. A reply without the proof is never accepted and changes no state; `upstream.ts` finds out
 * over TCP, which third parties cannot forge, whether the server gives none.
 */
import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { findOption, NO_OPTION, OPTION_HEAD_SIZE, optionEnd } from '../../../shared/dns/edns-option.ts';
import { EdnsOption, RRType } from '../../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, Record, readU16, skipRecord } from '../../../shared/dns/wire.ts';
import type { QueryMarks } from '../response/query-marks.ts';

/** The result of checking a reply: accepted, dropped, or dropped and worth asking over TCP. */
export type ProofResult = 'proven' | 'forged' | 'doubtful';

const CLIENT_COOKIE_SIZE = 8;
/** RFC 7873 section 4: a server cookie has 8 to 32 octets. */
const MIN_COOKIE_SIZE = CLIENT_COOKIE_SIZE + 8;
const MAX_COOKIE_SIZE = CLIENT_COOKIE_SIZE + 32;
/** A proof that a server turned out unable to give is asked for again after this, milliseconds. */
const RETRY_MS = 3_600_000;
/** A client cookie is replaced after this (RFC 7873 section 6: at most 36 days, a day or less is better). */
const COOKIE_LIFE_MS = 86_400_000;
/**
 * Questions in a row whose replies lacked the proof while TCP was unavailable, before the server is believed to be like
 * that. Each would cost a forger the right port and id.
 */
const MAX_STRIKES = 8;

const randomBits = new Uint8Array(4096);
let nextRandomBits = randomBits.length;

/** The proofs that one server address gives. */
export class ReplyProof {
  private readonly clock: Clock;
  private clientCookie = randomBytes(CLIENT_COOKIE_SIZE);
  private cookieSinceMs: number;
  /** Null until the server has sent one. */
  private serverCookie: Uint8Array | null = null;
  private caseOffUntilMs = 0;
  private cookieOffUntilMs = 0;
  private strikes = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.cookieSinceMs = clock.monotonicMs();
  }

  /** Marks for one query for this folded name. */
  marks(qname: Uint8Array): QueryMarks {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.cookieSinceMs > COOKIE_LIFE_MS) {
      this.cookieSinceMs = nowMs;
      this.clientCookie = randomBytes(CLIENT_COOKIE_SIZE);
      this.serverCookie = null;
    }
    const name = nowMs < this.caseOffUntilMs ? qname : inRandomCase(qname);
    const { length } = this.serverCookie ?? '';
    const cookie = new Uint8Array(CLIENT_COOKIE_SIZE + length);
    cookie.set(this.clientCookie);
    if (this.serverCookie !== null) cookie.set(this.serverCookie, CLIENT_COOKIE_SIZE);
    return { name, cookie };
  }

  /** Judges a response over UDP to a query with these marks; it was found to be one to the question. */
  check(message: Uint8Array, marks: QueryMarks): ProofResult {
    const cookie = findCookie(message, marks.name.length);
    if (cookie !== null && !isAnswerTo(cookie, marks.cookie)) return 'forged';
    if (!hasName(message, marks.name)) return 'doubtful';
    // The sender repeats our cookie, so it has seen the query: its server cookie is stored.
    if (cookie !== null) this.learn(cookie);
    else if (this.serverCookie !== null) return 'doubtful';
    this.strikes = 0;
    return 'proven';
  }

  /** Learns from a response over a connection, which is authentic. */
  witness(message: Uint8Array, marks: QueryMarks): void {
    const untilMs = this.clock.monotonicMs() + RETRY_MS;
    const cookie = findCookie(message, marks.name.length);
    if (!hasName(message, marks.name)) this.caseOffUntilMs = untilMs;
    if (cookie !== null && isAnswerTo(cookie, marks.cookie)) this.learn(cookie);
    else this.forgetCookie(untilMs);
    this.strikes = 0;
  }

  /** A doubtful reply could not be cleared up over TCP. */
  strike(): void {
    if (++this.strikes < MAX_STRIKES) return;
    this.strikes = 0;
    this.caseOffUntilMs = this.clock.monotonicMs() + RETRY_MS;
    this.forgetCookie(this.caseOffUntilMs);
  }

  private forgetCookie(untilMs: number): void {
    if (this.serverCookie === null) return;
    this.serverCookie = null;
    this.cookieOffUntilMs = untilMs;
  }

  /** Servers behind one address may differ: after a disappointment none is expected for a while. */
  private learn(cookie: Uint8Array): void {
    if (this.clock.monotonicMs() < this.cookieOffUntilMs) return;
    this.serverCookie = cookie.slice(CLIENT_COOKIE_SIZE);
  }
}

/** A copy of a folded name with each letter in random case. */
function inRandomCase(qname: Uint8Array): Uint8Array {
  if (nextRandomBits + 32 > randomBits.length) {
    randomFillSync(randomBits);
    nextRandomBits = 0;
  }
  const name = new Uint8Array(qname.length);
  for (let i = 0; i < qname.length; i++) {
    const octet = qname[i]!;
    const flip = (randomBits[nextRandomBits + (i >>> 3)]! >>> (i & 7)) & 1;
    // Label lengths are below the letters.
    name[i] = flip === 1 && octet >= 0x61 && octet <= 0x7a ? octet ^ 0x20 : octet;
  }
  nextRandomBits += (qname.length + 7) >>> 3;
  return name;
}

function hasName(message: Uint8Array, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (message[Header.SIZE + i] !== name[i]) return false;
  return true;
}

/** RFC 7873 section 5.3: our cookie must be repeated, the length be valid. */
function isAnswerTo(cookie: Uint8Array, ours: Uint8Array): boolean {
  if (cookie.length < MIN_COOKIE_SIZE || cookie.length > MAX_COOKIE_SIZE) return false;
  for (let i = 0; i < CLIENT_COOKIE_SIZE; i++) if (cookie[i] !== ours[i]) return false;
  return true;
}

const BROKEN = new Uint8Array(0);

/** The cookie option of a response whose qname is so long; null = none, empty = cannot be read. */
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
