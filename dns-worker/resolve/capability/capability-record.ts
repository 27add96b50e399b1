/**
 * The record of the features that one server supports, shared by all threads of the node. Findings expire after an
 * hour. Only probes (`capability-prober.ts`) test cookies and mixed case; replies to clients' queries, which third
 * parties may forge, do not change these findings.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { CapabilityWord as Word, FeatureWord } from '../../../shared/memory/capability-table.ts';
import { type Finding, FINDINGS, type ServerSupport } from '../../../shared/policy/hardening-settings.ts';

/** Features in the order of their words. */
const FEATURE_ORDER = ['edns', 'cookies', 'case', 'tcp'] as const;
/** A feature that a server may support. */
export type Feature = (typeof FEATURE_ORDER)[number];
/** A feature that protects queries over UDP against forged replies. */
export type HardeningFeature = 'cookies' | 'case';

const EXPIRY_SECS = 3600;
/**
 * Number of pairs of probes in which only the plain probe was answered, after which a feature is disabled. Each such
 * pair is a strike.
 */
const MAX_STRIKES = 2;
/** Maximum seconds between two strikes that disable a feature; strikes further apart count as a coincidence. */
const STRIKES_WITHIN_SECS = 300;
/** Minimum interval between pairs of probes of one server, in milliseconds. */
export const PAIR_INTERVAL_MS = 1000;

export const CLIENT_COOKIE_SIZE = 8;
/** RFC 7873 section 4: a server cookie has 8 to 32 octets. */
export const MIN_SERVER_COOKIE_SIZE = 8;
export const MAX_SERVER_COOKIE_SIZE = 32;
/** Number of reads of a cookie while another thread writes it, which takes less than a microsecond. */
const MAX_READS = 10_000;
/** Lifetime of a client cookie (RFC 7873 section 6: at most 36 days; a day or less is better). */
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

  /** Records a pair of probes in which only the plain probe was answered; the second strike disables the feature. */
  strike(feature: HardeningFeature, finding: Finding): void {
    const isFirst =
      this.load(feature, FeatureWord.STRIKES) === 0 ||
      this.nowSecs - this.load(feature, FeatureWord.STRIKE_AT) > STRIKES_WITHIN_SECS;
    const strikes = isFirst ? 1 : this.load(feature, FeatureWord.STRIKES) + 1;
    if (isFirst) this.store(feature, FeatureWord.STRIKE_AT, this.nowSecs);
    this.store(feature, FeatureWord.STRIKES, strikes);
    if (strikes >= MAX_STRIKES) this.note(feature, finding);
  }

  /** Whether a feature has a recent strike. */
  isStruck(feature: HardeningFeature): boolean {
    return (
      this.load(feature, FeatureWord.STRIKES) > 0 &&
      this.nowSecs - this.load(feature, FeatureWord.STRIKE_AT) <= STRIKES_WITHIN_SECS
    );
  }

  /** Records a pair of probes that were both answered, the plain probe and the probe with the feature. */
  noteFit(feature: HardeningFeature): void {
    this.store(feature, FeatureWord.FIT_MS, stamp(this.clock.monotonicMs()));
  }

  /** Whether `noteFit` was called since a monotonic time in milliseconds. */
  hasFitSince(feature: HardeningFeature, sinceMs: number): boolean {
    const fitMs = this.load(feature, FeatureWord.FIT_MS);
    return fitMs !== 0 && ((fitMs - stamp(sinceMs)) | 0) >= 0;
  }

  /** Claims the next pair of probes: false if another pair began less than a second ago, on any thread. */
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

  /** Claims the probes that are due, for this many seconds: false if another thread was faster. */
  claimProbes(leaseSecs: number): boolean {
    const due = Atomics.load(this.words, Word.PROBE_DUE);
    if (this.nowSecs < due) return false;
    const leased = this.nowSecs + leaseSecs;
    return Atomics.compareExchange(this.words, Word.PROBE_DUE, due, leased) === due;
  }

  /** Schedules the next probes. */
  scheduleProbes(inSecs: number): void {
    Atomics.store(this.words, Word.PROBE_DUE, this.nowSecs + inSecs);
  }

  /** Records that the server closes a connection after this many answers; null = it keeps the connection open. */
  noteAnswersPerConnection(answers: number | null): void {
    Atomics.store(this.words, Word.ANSWERS, answers ?? 0);
    Atomics.store(this.words, Word.ANSWERS_UNTIL, this.nowSecs + EXPIRY_SECS);
  }

  /** Answers per connection, recorded in the last hour; null = no limit. */
  get answersPerConnection(): number | null {
    const answers = Atomics.load(this.words, Word.ANSWERS);
    return answers > 0 && this.nowSecs < Atomics.load(this.words, Word.ANSWERS_UNTIL) ? answers : null;
  }

  /** Records that the server has sent an OPT record. */
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

  /** Whether refusals of EDNS are currently not investigated. */
  get isEdnsClear(): boolean {
    return this.nowSecs < Atomics.load(this.words, Word.EDNS_CLEAR_UNTIL);
  }

  /** Stops investigating refusals of EDNS for this many seconds. */
  clearEdns(forSecs: number): void {
    Atomics.store(this.words, Word.EDNS_CLEAR_UNTIL, this.nowSecs + forSecs);
    Atomics.store(this.words, Word.EDNS_REFUSALS, 0);
  }

  /** Counts a refusal of EDNS that could not be investigated; returns the number of refusals in a row. */
  countEdnsRefusal(): number {
    return Atomics.add(this.words, Word.EDNS_REFUSALS, 1) + 1;
  }

  resetEdnsRefusals(): void {
    Atomics.store(this.words, Word.EDNS_REFUSALS, 0);
  }

  /**
   * The cookie for a query: the client cookie, followed by the server cookie if it is known. All threads send the same
   * cookie.
   */
  cookie(): Uint8Array {
    for (let reads = 0; ; reads++) {
      this.keepClientCookie();
      const sequence = Atomics.load(this.words, Word.COOKIE_SEQUENCE);
      const size = CLIENT_COOKIE_SIZE + Atomics.load(this.words, Word.COOKIE_SIZE);
      const cookie = this.octets.slice(0, size);
      if ((sequence & 1) === 0 && sequence === Atomics.load(this.words, Word.COOKIE_SEQUENCE)) return cookie;
      if (reads >= MAX_READS) this.discardUnfinished();
    }
  }

  /**
   * Stores the server cookie, unless another thread is storing one. `ours` is the client cookie to which it belongs.
   */
  learnCookie(server: Uint8Array, ours: Uint8Array): void {
    this.writeCookie(() => {
      for (let i = 0; i < CLIENT_COOKIE_SIZE; i++) if (this.octets[i] !== ours[i]) return;
      this.octets.set(server, CLIENT_COOKIE_SIZE);
      Atomics.store(this.words, Word.COOKIE_SIZE, server.length);
    });
  }

  /** Which features the server supports, for the report. */
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

  /** Writes the cookie unless another thread is writing it. */
  private writeCookie(write: () => void): void {
    const sequence = Atomics.load(this.words, Word.COOKIE_SEQUENCE);
    if ((sequence & 1) !== 0) return;
    if (Atomics.compareExchange(this.words, Word.COOKIE_SEQUENCE, sequence, sequence + 1) !== sequence)
      return;
    write();
    Atomics.store(this.words, Word.COOKIE_SEQUENCE, sequence + 2);
  }

  /** Takes over from a thread that died while it was writing the cookie; creates another cookie. */
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

/** A time in milliseconds as a 32-bit number, never 0; differences of less than 24 days are valid. */
function stamp(ms: number): number {
  return Math.floor(ms) | 0 || 1;
}
