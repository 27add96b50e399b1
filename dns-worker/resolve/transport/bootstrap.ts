/**
 * Addresses of upstreams that are configured by host name: resolved by the bootstrap servers, A and AAAA, cached for
 * their TTL, and beyond it while no new answer is available. Literal addresses are returned at once.
 */
import { isIP } from 'node:net';
import { RRClass, RRType, Rcode } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { Record, readU16, readU32, skipName } from '../../../shared/dns/wire.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Exchange, ExchangeOutcome, ServerAddress } from './exchange.ts';
import { exchangeUdp } from './exchange-udp.ts';
import { UdpSockets } from './upstream-sockets.ts';
import type { Question } from '../response/question.ts';
import type { CacheableAnswer } from '../response/response-reader.ts';
import { canonicalIp, parseServerAddress } from './server-address.ts';

/** An address found; `ip` canonical. */
export interface HostAddress {
  readonly ip: string;
  readonly family: 4 | 6;
}

/** Called once: the addresses, IPv4 first; empty if none could be resolved. The same array while it is valid. */
export type HostDone = (addresses: readonly HostAddress[]) => void;

/** One ask of one bootstrap server. */
const ATTEMPT_TIMEOUT_MS = 1000;
/** How long the other family is waited for once one has an address (RFC 8305 section 3), milliseconds. */
const OTHER_FAMILY_MS = 50;
/** Bounds of how long an address is kept before it is asked again, seconds. */
const MIN_TTL_SECS = 60;
const MAX_TTL_SECS = 86_400;
/** After a failure, how long until the next try while an old address is at hand, milliseconds. */
const RETRY_MS = 10_000;

interface KnownHost {
  addresses: readonly HostAddress[];
  expiresMs: number;
  waiting: HostDone[] | null;
}

/** The addresses of host names, one for all upstreams of a resolver. */
export class Bootstrap {
  private readonly servers: readonly ServerAddress[];
  private readonly clock: Clock;
  private readonly hosts = new Map<string, KnownHost>();
  private readonly underWay = new Set<() => void>();
  private closed = false;

  /** `servers`: `ip`, `ip:port` or `[ip]:port`, also after `udp://`; anything else is skipped. */
  constructor(servers: readonly string[], clock: Clock) {
    this.servers = servers.map((text) => parseServerAddress(text, 53)).filter((server) => server !== null);
    this.clock = clock;
  }

  /** Finds the addresses of a host; `done` may be called at once. Expired ones are used while renewed. */
  lookup(host: string, done: HostDone): void {
    let known = this.hosts.get(host);
    if (known === undefined) {
      known = { addresses: literalAddress(host), expiresMs: 0, waiting: null };
      if (known.addresses.length > 0) known.expiresMs = Infinity;
      this.hosts.set(host, known);
    }
    const fresh = known.expiresMs > this.clock.monotonicMs();
    if (known.addresses.length === 0) this.wait(host, known, done);
    else {
      if (!fresh) this.wait(host, known, () => undefined);
      done(known.addresses);
    }
  }

  /** Cancels lookups in flight; waiters get null. */
  close(): void {
    this.closed = true;
    for (const abort of [...this.underWay]) abort();
  }

  private wait(host: string, known: KnownHost, done: HostDone): void {
    if (known.waiting !== null) {
      known.waiting.push(done);
      return;
    }
    known.waiting = [done];
    this.resolve(host, 0, (found) => {
      const nowMs = this.clock.monotonicMs();
      if (found.length === 0) known.expiresMs = nowMs + RETRY_MS;
      else {
        const addresses = found.map(({ address }) => address);
        if (!isSame(addresses, known.addresses)) known.addresses = addresses;
        known.expiresMs = nowMs + Math.min(...found.map(({ ttlSecs }) => ttlSecs)) * 1000;
      }
      const waiting = known.waiting ?? [];
      known.waiting = null;
      for (const waiter of waiting) waiter(known.addresses);
    });
  }

  /** Asks one server for both families, the next one where it knows neither. */
  private resolve(host: string, index: number, done: (found: readonly Found[]) => void): void {
    const qname = nameFromText(host);
    const server = this.servers[index];
    if (server === undefined || qname === null || this.closed) {
      done([]);
      return;
    }
    const found: Found[][] = [[], []];
    let missing = 2;
    let timer: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(timer);
      missing = -1;
      const both = found.flat();
      if (both.length > 0) done(both);
      else this.resolve(host, index + 1, done);
    };
    for (const [place, qtype] of [RRType.A, RRType.AAAA].entries()) {
      const question = {
        qname,
        qtype,
        qclass: RRClass.IN,
        dnssecOk: false,
        checkingDisabled: false,
        ecs: null,
      };
      this.ask(server, question, (answer) => {
        if (missing < 0) return;
        found[place] = answer === null ? [] : addressesIn(answer, question);
        missing--;
        if (missing === 0) finish();
        else if (found.flat().length > 0) timer = setTimeout(finish, this.closed ? 0 : OTHER_FAMILY_MS);
      });
    }
  }

  private ask(
    server: ServerAddress,
    question: Question,
    done: (answer: CacheableAnswer | null) => void,
  ): void {
    const end = (outcome: ExchangeOutcome | null): void => {
      clearTimeout(timer);
      exchange.cancel();
      this.underWay.delete(abort);
      done(outcome?.kind === 'answer' ? outcome.answer : null);
    };
    const abort = (): void => end(null);
    const exchange: Exchange = exchangeUdp(new UdpSockets(server), question, true, null, end);
    const timer = setTimeout(abort, ATTEMPT_TIMEOUT_MS);
    this.underWay.add(abort);
  }
}

interface Found {
  readonly address: HostAddress;
  readonly ttlSecs: number;
}

/** The address records of an answer, wherever its CNAME chain ends. */
function addressesIn(answer: CacheableAnswer, question: Question): Found[] {
  const found: Found[] = [];
  if (answer.rcode !== Rcode.NOERROR) return found;
  const { body } = answer;
  for (let at = 0, i = 0; i < answer.answerCount; i++) {
    const fixed = skipName(body, at, body.length);
    const rdata = fixed + Record.RDATA;
    const rdlength = readU16(body, fixed + Record.RDLENGTH);
    if (readU16(body, fixed) === question.qtype) {
      const ttlSecs = Math.min(MAX_TTL_SECS, Math.max(MIN_TTL_SECS, readU32(body, fixed + Record.TTL)));
      found.push({ address: toAddress(body.subarray(rdata, rdata + rdlength)), ttlSecs });
    }
    at = rdata + rdlength;
  }
  return found;
}

function literalAddress(host: string): readonly HostAddress[] {
  const family = isIP(host);
  return family === 4 || family === 6 ? [{ ip: canonicalIp(host), family }] : [];
}

function isSame(left: readonly HostAddress[], right: readonly HostAddress[]): boolean {
  return left.length === right.length && left.every(({ ip }, i) => ip === right[i]?.ip);
}

function toAddress(rdata: Uint8Array): HostAddress {
  if (rdata.length === 4) return { ip: rdata.join('.'), family: 4 };
  const groups = Array.from({ length: 8 }, (_, i) => readU16(rdata, 2 * i).toString(16));
  return { ip: canonicalIp(groups.join(':')), family: 6 };
}
