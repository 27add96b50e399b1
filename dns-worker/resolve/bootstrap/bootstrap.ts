/**
 * Addresses of upstreams that are configured by host name: resolved by the bootstrap servers, A and AAAA, cached for
 * their TTL, and longer if no new answer is available. If all addresses of a host fail, they may be wrong (a captive
 * portal answers with its own address) and are resolved again before they expire. Literal addresses are returned
 * immediately.
 */
import { isIP } from 'node:net';
import { RRType } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import type { Clock } from '../../../shared/clock.ts';
import { canonicalIp, parseServerAddress } from '../transport/server-address.ts';
import { BootstrapServer, type FoundAddress, type HostAddress } from './bootstrap-server.ts';

export type { HostAddress } from './bootstrap-server.ts';

/**
 * Called once with the addresses, IPv4 first; empty if none could be resolved. While the addresses are valid, every
 * call gets the same array.
 */
export type HostDone = (addresses: readonly HostAddress[]) => void;

/** Milliseconds to wait for the other family after one has an address (RFC 8305 section 3). */
const OTHER_FAMILY_MS = 50;
/** Limits for the lifetime of an address, in seconds. */
const MIN_TTL_SECS = 60;
const MAX_TTL_SECS = 86_400;
/** Minimum milliseconds between two lookups of a host while old addresses are available. */
const RETRY_MS = 10_000;
/**
 * Milliseconds to wait for a new lookup if all addresses have failed; then the old addresses are used, which may work
 * again.
 */
const DOUBTED_WAIT_MS = 200;

interface KnownHost {
  addresses: readonly HostAddress[];
  expiresMs: number;
  /** Start of the last lookup. */
  lookedUpMs: number;
  /** Whether all addresses have failed since the last lookup. */
  mustRecheck: boolean;
  waiting: HostDone[] | null;
}

/** The addresses of host names, one for all upstreams of a resolver. */
export class Bootstrap {
  private readonly servers: readonly BootstrapServer[];
  private readonly clock: Clock;
  private readonly hosts = new Map<string, KnownHost>();
  private closed = false;

  /** `servers`: `ip`, `ip:port` or `[ip]:port`, also after `udp://`; other texts are skipped. */
  constructor(servers: readonly string[], clock: Clock) {
    this.servers = servers
      .map((text) => parseServerAddress(text, 53))
      .filter((server) => server !== null)
      .map((server) => new BootstrapServer(server, clock));
    this.clock = clock;
  }

  /**
   * Finds the addresses of a host; `done` may be called before `lookup` returns. Expired addresses are used while they
   * are renewed.
   */
  lookup(host: string, done: HostDone): void {
    const known = this.hosts.get(host) ?? this.firstKnown(host);
    const nowMs = this.clock.monotonicMs();
    if (known.addresses.length === 0) this.wait(host, known, done);
    else if (known.mustRecheck && nowMs - known.lookedUpMs >= RETRY_MS) this.waitBriefly(host, known, done);
    else {
      if (known.expiresMs <= nowMs) this.wait(host, known, () => undefined);
      done(known.addresses);
    }
  }

  /** Reports that all addresses of a host have failed: the host is resolved again, at most every 10 s. */
  recheck(host: string): void {
    const known = this.hosts.get(host);
    if (known !== undefined && known.expiresMs !== Infinity) known.mustRecheck = true;
  }

  /** Cancels lookups in flight; waiting callers get no address. */
  close(): void {
    this.closed = true;
    for (const server of this.servers) server.close();
  }

  private firstKnown(host: string): KnownHost {
    const addresses = literalAddress(host);
    const expiresMs = addresses.length > 0 ? Infinity : 0;
    const known = { addresses, expiresMs, lookedUpMs: 0, mustRecheck: false, waiting: null };
    this.hosts.set(host, known);
    return known;
  }

  private waitBriefly(host: string, known: KnownHost, done: HostDone): void {
    let isDone = false;
    const finish = (): void => {
      clearTimeout(timer);
      if (!isDone) done(known.addresses);
      isDone = true;
    };
    const timer = setTimeout(finish, DOUBTED_WAIT_MS);
    this.wait(host, known, finish);
  }

  private wait(host: string, known: KnownHost, done: HostDone): void {
    if (known.waiting !== null) {
      known.waiting.push(done);
      return;
    }
    known.waiting = [done];
    known.mustRecheck = false;
    known.lookedUpMs = this.clock.monotonicMs();
    void this.resolve(host).then((found) => {
      const nowMs = this.clock.monotonicMs();
      if (found.length === 0) known.expiresMs = nowMs + RETRY_MS;
      else {
        const addresses = found.map(({ address }) => address);
        if (!isSame(addresses, known.addresses)) known.addresses = addresses;
        const ttlSecs = Math.min(MAX_TTL_SECS, ...found.map((each) => each.ttlSecs));
        known.expiresMs = nowMs + Math.max(MIN_TTL_SECS, ttlSecs) * 1000;
      }
      const waiting = known.waiting ?? [];
      known.waiting = null;
      for (const waiter of waiting) waiter(known.addresses);
    });
  }

  /** Queries one server for both families, and the next server if the first returns no address. */
  private async resolve(host: string): Promise<readonly FoundAddress[]> {
    const qname = nameFromText(host);
    if (qname === null) return [];
    for (const server of this.servers) {
      if (this.closed) return [];
      const found = await bothFamilies(server, qname);
      if (found.length > 0) return found;
    }
    return [];
  }
}

/** The addresses of both families, or only of one family if the other takes much longer. */
function bothFamilies(server: BootstrapServer, qname: Uint8Array): Promise<readonly FoundAddress[]> {
  return new Promise((resolve) => {
    const found: (readonly FoundAddress[])[] = [[], []];
    let missing = 2;
    let timer: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(timer);
      resolve(found.flat());
    };
    for (const [place, qtype] of [RRType.A, RRType.AAAA].entries())
      void server.find(qname, qtype).then((addresses) => {
        found[place] = addresses;
        missing--;
        if (missing === 0) finish();
        else if (addresses.length > 0) timer = setTimeout(finish, OTHER_FAMILY_MS);
      });
  });
}

export function literalAddress(host: string): readonly HostAddress[] {
  const family = isIP(host);
  return family === 4 || family === 6 ? [{ ip: canonicalIp(host), family }] : [];
}

function isSame(left: readonly HostAddress[], right: readonly HostAddress[]): boolean {
  return left.length === right.length && left.every(({ ip }, i) => ip === right[i]?.ip);
}
