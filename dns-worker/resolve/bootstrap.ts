/**
 * Addresses of upstreams that are configured by host name: asked from the bootstrap servers, A first, then
 * AAAA, kept for their TTL, and kept on beyond it while a new answer cannot be had. Upstreams with a
 * literal address never come here.
 */
import { isIP } from 'node:net';
import { RRClass, RRType, Rcode } from '../../shared/dns/iana.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { Record, readU16, readU32, skipName } from '../../shared/dns/wire.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Exchange, ExchangeOutcome, ServerAddress } from './exchange.ts';
import { exchangeUdp } from './exchange-udp.ts';
import type { Question } from './question.ts';
import type { CacheableAnswer } from './response-reader.ts';
import { canonicalIp, parseServerAddress } from './server-address.ts';

/** An address found; `ip` canonical. */
export interface HostAddress {
  readonly ip: string;
  readonly family: 4 | 6;
}

/** Called once: the address, or null where none could be had. */
export type HostDone = (address: HostAddress | null) => void;

/** One ask of one bootstrap server. */
const ATTEMPT_TIMEOUT_MS = 1000;
/** Bounds of how long an address is kept before it is asked again, seconds. */
const MIN_TTL_SECS = 60;
const MAX_TTL_SECS = 86_400;
/** After a failure, how long until the next try while an old address is at hand, milliseconds. */
const RETRY_MS = 10_000;

interface KnownHost {
  address: HostAddress | null;
  expiresMs: number;
  waiting: HostDone[] | null;
}

/** The addresses of host names, one for all upstreams of a resolver. */
export class Bootstrap {
  readonly #servers: readonly ServerAddress[];
  readonly #clock: Clock;
  readonly #hosts = new Map<string, KnownHost>();
  readonly #underWay = new Set<() => void>();
  #closed = false;

  /** `servers`: `ip`, `ip:port` or `[ip]:port`, also behind `udp://`; anything else is left out. */
  constructor(servers: readonly string[], clock: Clock) {
    this.#servers = servers.map((text) => parseServerAddress(text, 53)).filter((server) => server !== null);
    this.#clock = clock;
  }

  /** Finds the address of a host; `done` may be called at once. An expired one is used while it is renewed. */
  lookup(host: string, done: HostDone): void {
    const family = isIP(host);
    if (family === 4 || family === 6) {
      done({ ip: canonicalIp(host), family });
      return;
    }
    let known = this.#hosts.get(host);
    if (known === undefined) {
      known = { address: null, expiresMs: 0, waiting: null };
      this.#hosts.set(host, known);
    }
    const fresh = known.expiresMs > this.#clock.monotonicMs();
    if (known.address === null) this.#wait(host, known, done);
    else {
      if (!fresh) this.#wait(host, known, () => undefined);
      done(known.address);
    }
  }

  /** Ends what is under way; those who wait are told null. */
  close(): void {
    this.#closed = true;
    for (const abort of [...this.#underWay]) abort();
  }

  #wait(host: string, known: KnownHost, done: HostDone): void {
    if (known.waiting !== null) {
      known.waiting.push(done);
      return;
    }
    known.waiting = [done];
    this.#resolve(host, (found) => {
      const nowMs = this.#clock.monotonicMs();
      if (found !== null) {
        known.address = found.address;
        known.expiresMs = nowMs + found.ttlSecs * 1000;
      } else {
        known.expiresMs = nowMs + RETRY_MS;
      }
      const waiting = known.waiting ?? [];
      known.waiting = null;
      for (const waiter of waiting) waiter(known.address);
    });
  }

  /** Tries A at each server, then AAAA at each. */
  #resolve(host: string, done: (found: Found | null) => void): void {
    const qname = nameFromText(host);
    const tries = [RRType.A, RRType.AAAA].flatMap((qtype) =>
      this.#servers.map((server) => ({ qtype, server })),
    );
    const next = (index: number): void => {
      const attempt = tries[index];
      if (attempt === undefined || qname === null || this.#closed) {
        done(null);
        return;
      }
      const question = {
        qname,
        qtype: attempt.qtype,
        qclass: RRClass.IN,
        dnssecOk: false,
        checkingDisabled: false,
      };
      this.#ask(attempt.server, question, (answer) => {
        const found = answer === null ? null : firstAddress(answer, question);
        if (found !== null) done(found);
        else next(index + 1);
      });
    };
    next(0);
  }

  #ask(server: ServerAddress, question: Question, done: (answer: CacheableAnswer | null) => void): void {
    const end = (outcome: ExchangeOutcome | null): void => {
      clearTimeout(timer);
      exchange.cancel();
      this.#underWay.delete(abort);
      done(outcome?.kind === 'answer' ? outcome.answer : null);
    };
    const abort = (): void => end(null);
    const exchange: Exchange = exchangeUdp(server, question, true, end);
    const timer = setTimeout(abort, ATTEMPT_TIMEOUT_MS);
    this.#underWay.add(abort);
  }
}

interface Found {
  readonly address: HostAddress;
  readonly ttlSecs: number;
}

/** The first address record of an answer, wherever its CNAME chain ends. */
function firstAddress(answer: CacheableAnswer, question: Question): Found | null {
  if (answer.rcode !== Rcode.NOERROR) return null;
  const { body } = answer;
  for (let at = 0, i = 0; i < answer.answerCount; i++) {
    const fixed = skipName(body, at, body.length);
    const rdata = fixed + Record.RDATA;
    const rdlength = readU16(body, fixed + Record.RDLENGTH);
    if (readU16(body, fixed) === question.qtype) {
      const ttlSecs = Math.min(MAX_TTL_SECS, Math.max(MIN_TTL_SECS, readU32(body, fixed + Record.TTL)));
      return { address: toAddress(body.subarray(rdata, rdata + rdlength)), ttlSecs };
    }
    at = rdata + rdlength;
  }
  return null;
}

function toAddress(rdata: Uint8Array): HostAddress {
  if (rdata.length === 4) return { ip: rdata.join('.'), family: 4 };
  const groups = Array.from({ length: 8 }, (_, i) => readU16(rdata, 2 * i).toString(16));
  return { ip: canonicalIp(groups.join(':')), family: 6 };
}
