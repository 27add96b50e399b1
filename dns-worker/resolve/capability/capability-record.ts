/**
 * The record of what one server supports, shared by all threads of the node. Findings expire after an hour. Cookies and
 * mixed case are found out by probes only (`capability-prober.ts`); nothing that a reply to a client's question holds,
 * and third parties may forge, changes their findings.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { CapabilityWord as Word, FeatureWord } from '../../../shared/memory/capability-table.ts';
import { type Finding, FINDINGS, type ServerSupport } from '../../../shared/policy/hardening-settings.ts';

/** Features in the order of their words. */
const FEATURE_ORDER = ['edns', 'cookies', 'case', 'tcp'] as const;
/** A feature that is supported or not. */
export type Feature = (typeof FEATURE_ORDER)[number];
/** A feature that hardens questions over UDP. */
export type HardeningFeature = 'cookies' | 'case';

const EXPIRY_SECS = 3600;
/** Pairs of probes in which only the plain one was answered that switch a feature off. */
const MAX_STRIKES = 2;
/** Strikes further apart are a coincidence. */
const STRIKES_WITHIN_SECS = 300;
/** Pairs of probes of one server are at least this far apart, milliseconds. */
export const PAIR_INTERVAL_MS = 1000;

export const CLIENT_COOKIE_SIZE = 8;
/** RFC 7873 section 4: a server cookie has 8 to 32 octets. */
export const MIN_SERVER_COOKIE_SIZE = 8;
export const MAX_SERVER_COOKIE_SIZE = 32;
/** Looks at a cookie that is being written, which takes less than a microsecond. */
const MAX_LOOKS = 10_000;
/** A client cookie is replaced after this (RFC 7873 section 6: at most 36 days, a day or less is better). */
const COOKIE_LIFE_SECS = 86_400;

/** One server's record. */
export class CapabilityRecord {
  private readonly words: Int32Array;
  private readonly octets: Uint8Array;
  private readonly clock: Clock;

  /** `words` are those of the record. */
  constructor(words: Int32Array, clock: Clock) {
    this.words = words;
    this.octets = new Uint8Array(words.buffer, words.byteOffset + Word.COOKIE * 4, Word.COOKIE_WORDS * 4);
    this.clock = clock;
  }

  /** Current finding about a feature; `unknown` once it has expired. */
  finding(feature: Feature): Finding {
    return this.nowSecs < this.load(feature, FeatureWord.UNTIL) ? this.lastFinding(feature) : 'unknown';
  }

  /** The last finding, even if it has expired. */
  lastFinding(feature: Feature): Finding {
    return FINDINGS[this.load(feature, FeatureWord.FINDING)]!;
  }

  /** Records a finding for an hour. */
  note(feature: Feature, finding: Finding): void {
    this.store(feature, FeatureWord.FINDING, FINDINGS.indexOf(finding));
    this.store(feature, FeatureWord.UNTIL, this.nowSecs + EXPIRY_SECS);
    this.store(feature, FeatureWord.STRIKES, 0);
  }

  /** A pair of probes in which only the plain one was answered; the second one switches the feature off. */
  strike(feature: HardeningFeature, finding: Finding): void {
    const isFirst =
      this.load(feature, FeatureWord.STRIKES) === 0 ||
      this.nowSecs - this.load(feature, FeatureWord.STRIKE_AT) > STRIKES_WITHIN_SECS;
    const strikes = isFirst ? 1 : this.load(feature, FeatureWord.STRIKES) + 1;
    if (isFirst) this.store(feature, FeatureWord.STRIKE_AT, this.nowSecs);
    this.store(feature, FeatureWord.STRIKES, strikes);
    if (strikes >= MAX_STRIKES) this.note(feature, finding);
  }

  /** Whether a pair of probes has recently spoken against a feature. */
  isStruck(feature: HardeningFeature): boolean {
    return (
      this.load(feature, FeatureWord.STRIKES) > 0 &&
      this.nowSecs - this.load(feature, FeatureWord.STRIKE_AT) <= STRIKES_WITHIN_SECS
    );
  }

  /** A pair of probes in which the one with the feature was answered as well as the plain one. */
  noteFit(feature: HardeningFeature): void {
    this.store(feature, FeatureWord.FIT_MS, stamp(this.clock.monotonicMs()));
  }

  /** Whether `noteFit` was called since a time of the monotonic clock, milliseconds. */
  hasFitSince(feature: HardeningFeature, sinceMs: number): boolean {
    const fitMs = this.load(feature, FeatureWord.FIT_MS);
    return fitMs !== 0 && ((fitMs - stamp(sinceMs)) | 0) >= 0;
  }

  /** Claims the next pair of probes: false if another began less than a second ago, in whichever thread. */
  claimPair(): boolean {
    const now = stamp(this.clock.monotonicMs());
    const last = Atomics.load(this.words, Word.PAIR_MS);
    const age = (now - last) | 0;
    if (last !== 0 && age >= 0 && age < PAIR_INTERVAL_MS) return false;
    return Atomics.compareExchange(this.words, Word.PAIR_MS, last, now) === last;
  }

  /** Whether probes of the server are due. */
  get isProbeDue(): boolean {
    return this.nowSecs >= Atomics.load(this.words, Word.PROBE_DUE);
  }

  /** Claims the probes that are due, for so many seconds: false if another thread was faster. */
  claimProbes(leaseSecs: number): boolean {
    const due = Atomics.load(this.words, Word.PROBE_DUE);
    if (this.nowSecs < due) return false;
    const leased = this.nowSecs + leaseSecs;
    return Atomics.compareExchange(this.words, Word.PROBE_DUE, due, leased) === due;
  }

  /** The next probes are due in so many seconds. */
  scheduleProbes(inSecs: number): void {
    Atomics.store(this.words, Word.PROBE_DUE, this.nowSecs + inSecs);
  }

  /** The server closes a connection after so many answers; null = it does not. */
  noteAnswersPerConnection(answers: number | null): void {
    Atomics.store(this.words, Word.ANSWERS, answers ?? 0);
    Atomics.store(this.words, Word.ANSWERS_UNTIL, this.nowSecs + EXPIRY_SECS);
  }

  /** Limit recorded in the last hour; null = no limit was seen. */
  get answersPerConnection(): number | null {
    const answers = Atomics.load(this.words, Word.ANSWERS);
    return answers > 0 && this.nowSecs < Atomics.load(this.words, Word.ANSWERS_UNTIL) ? answers : null;
  }

  /** The server has sent an OPT record. */
  noteEdns(): void {
    const isNoted = this.ednsSeenAgoSecs === 0 && Atomics.load(this.words, Word.EDNS_REFUSALS) === 0;
    if (isNoted && this.finding('edns') === 'supported') return;
    Atomics.store(this.words, Word.EDNS_SEEN, this.nowSecs + 1);
    Atomics.store(this.words, Word.EDNS_REFUSALS, 0);
    this.note('edns', 'supported');
  }

  /** Seconds since the server sent an OPT record. */
  get ednsSeenAgoSecs(): number {
    const seen = Atomics.load(this.words, Word.EDNS_SEEN);
    return seen === 0 ? Infinity : this.nowSecs + 1 - seen;
  }

  /** Whether a refusal of EDNS is not looked into at present. */
  get isEdnsClear(): boolean {
    return this.nowSecs < Atomics.load(this.words, Word.EDNS_CLEAR_UNTIL);
  }

  /** Refusals of EDNS are not looked into for so many seconds. */
  clearEdns(forSecs: number): void {
    Atomics.store(this.words, Word.EDNS_CLEAR_UNTIL, this.nowSecs + forSecs);
    Atomics.store(this.words, Word.EDNS_REFUSALS, 0);
  }

  /** Counts a refusal of EDNS that could not be looked into; returns how many there were in a row. */
  countEdnsRefusal(): number {
    return Atomics.add(this.words, Word.EDNS_REFUSALS, 1) + 1;
  }

  resetEdnsRefusals(): void {
    Atomics.store(this.words, Word.EDNS_REFUSALS, 0);
  }

  /** The cookie for a query: the client's, and after it the server's if known. All threads send the same one. */
  cookie(): Uint8Array {
    for (let look = 0; ; look++) {
      this.keepClientCookie();
      const sequence = Atomics.load(this.words, Word.COOKIE_SEQUENCE);
      const size = CLIENT_COOKIE_SIZE + Atomics.load(this.words, Word.COOKIE_SIZE);
      const cookie = this.octets.slice(0, size);
      if ((sequence & 1) === 0 && sequence === Atomics.load(this.words, Word.COOKIE_SEQUENCE)) return cookie;
      if (look >= MAX_LOOKS) this.discardUnfinished();
    }
  }

  /** Stores the server's cookie, unless another thread is storing one. `ours` is the client's that it belongs to. */
  learnCookie(server: Uint8Array, ours: Uint8Array): void {
    this.writeCookie(() => {
      for (let i = 0; i < CLIENT_COOKIE_SIZE; i++) if (this.octets[i] !== ours[i]) return;
      this.octets.set(server, CLIENT_COOKIE_SIZE);
      Atomics.store(this.words, Word.COOKIE_SIZE, server.length);
    });
  }

  /** Support of features, for the report. */
  get support(): ServerSupport {
    return {
      edns: this.finding('edns'),
      cookies: this.finding('cookies'),
      case: this.finding('case'),
      tcp: this.finding('tcp'),
      answersPerConnection: this.answersPerConnection,
    };
  }

  private keepClientCookie(): void {
    const since = Atomics.load(this.words, Word.COOKIE_SINCE);
    if (since !== 0 && this.nowSecs + 1 - since < COOKIE_LIFE_SECS) return;
    this.writeCookie(() => {
      if (Atomics.load(this.words, Word.COOKIE_SINCE) !== since) return;
      this.octets.set(randomBytes(CLIENT_COOKIE_SIZE));
      Atomics.store(this.words, Word.COOKIE_SIZE, 0);
      Atomics.store(this.words, Word.COOKIE_SINCE, this.nowSecs + 1);
    });
  }

  /** Writes the cookie unless another thread does. */
  private writeCookie(write: () => void): void {
    const sequence = Atomics.load(this.words, Word.COOKIE_SEQUENCE);
    if ((sequence & 1) !== 0) return;
    if (Atomics.compareExchange(this.words, Word.COOKIE_SEQUENCE, sequence, sequence + 1) !== sequence)
      return;
    write();
    Atomics.store(this.words, Word.COOKIE_SEQUENCE, sequence + 2);
  }

  /** Takes over from a thread that died while it was writing the cookie; another cookie is made. */
  private discardUnfinished(): void {
    const sequence = Atomics.load(this.words, Word.COOKIE_SEQUENCE);
    if ((sequence & 1) === 0) return;
    Atomics.store(this.words, Word.COOKIE_SINCE, 0);
    Atomics.compareExchange(this.words, Word.COOKIE_SEQUENCE, sequence, sequence + 1);
  }

  private get nowSecs(): number {
    return Math.floor(this.clock.monotonicMs() / 1000);
  }

  private load(feature: Feature, word: number): number {
    return Atomics.load(this.words, place(feature) + word);
  }

  private store(feature: Feature, word: number, value: number): void {
    Atomics.store(this.words, place(feature) + word, value);
  }
}

function place(feature: Feature): number {
  return Word.FEATURES + FEATURE_ORDER.indexOf(feature) * FeatureWord.WORDS;
}

/** Milliseconds in 32 bits, never 0; differences of less than 24 days mean something. */
function stamp(ms: number): number {
  return Math.floor(ms) | 0 || 1;
}
