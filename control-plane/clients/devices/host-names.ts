/**
 * Looks up host names of clients by PTR queries to a DNS thread of this node, so that local records, forward zones and
 * the cache apply. Devices without such a name are queried directly by mDNS. Only a few queries are sent at a time, and
 * each is repeated after a pause. Only private addresses are looked up, because queries for public addresses would be
 * sent to upstreams.
 */
import { Resolver } from 'node:dns/promises';
import type { Clock } from '../../../shared/clock.ts';
import { decodeMessage, encodeMessage, RECURSION_DESIRED } from '../../../shared/dns/codec.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { FlagsLow, Header } from '../../../shared/dns/wire.ts';
import { addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';
import { reverseName } from '../../../shared/policy/local-record.ts';
import { escapeUnsafe } from '../../../shared/unsafe-characters.ts';

const QUESTIONS_AT_ONCE = 4;
const MAX_WAITING = 1000;
const MAX_KNOWN = 50_000;
const MDNS_TIMEOUT_MS = 1000;
const MDNS_PORT = 5353;
const PAUSE_MS = { named: 3_600_000, nameless: 600_000 } as const;

/** Returns the names of an address, which may be none. Rejects if the names cannot be determined. */
export type AskNames = (address: string) => Promise<readonly string[]>;

/** Sends PTR queries to a DNS thread; `ask` resolves with the answer in wire form. */
export function askThread(ask: (message: Uint8Array) => Promise<Uint8Array | null>): AskNames {
  return async (client) => {
    const name = reverseName(addressFromText(client)!);
    const reply = await ask(
      encodeMessage({ type: 'query', flags: RECURSION_DESIRED, questions: [{ name, type: 'PTR' }] }),
    );
    const message = reply === null ? null : decodeMessage(reply);
    if (reply === null || message === null) throw new Error(`could not look up ${name}: no readable reply`);
    const rcode = reply[Header.FLAGS_LOW]! & FlagsLow.RCODE;
    if (rcode !== Rcode.NOERROR && rcode !== Rcode.NXDOMAIN)
      throw new Error(`could not look up ${name}: rcode ${String(rcode)}`);
    return (message.answers ?? []).flatMap((answer) => (answer.type === 'PTR' ? [answer.data] : []));
  };
}

/**
 * Queries the device at the address for its own name by a direct mDNS query (RFC 6762 sections 5.5 and 6.7), which
 * needs no multicast. Only names below `local` are accepted, because mDNS is only defined for these names.
 */
export function askDevice(port = MDNS_PORT): AskNames {
  return async (client) => {
    const resolver = new Resolver({ timeout: MDNS_TIMEOUT_MS, tries: 1 });
    resolver.setServers([serverText(client, port)]);
    const names = await resolver.reverse(client);
    return names.filter((name) => name.toLowerCase().endsWith('.local'));
  };
}

/**
 * Returns the names that `first` finds or, if there are none, those that `second` finds. Failures of `second` are
 * ignored.
 */
export function askInTurn(first: AskNames, second: AskNames): AskNames {
  return async (client) => {
    const names = await first(client);
    return names.length > 0 ? names : second(client).catch(() => []);
  };
}

function serverText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Looks up and caches host names by address. */
export class HostNames {
  private readonly ask: AskNames;
  private readonly clock: Clock;
  private readonly found: (address: string, hostname: string | null) => void;
  private readonly dueMs = new Map<string, number>();
  private readonly waiting: string[] = [];
  private inFlight = 0;
  private isClosed = false;

  /** `found` is called with each result; null = the address has no name. */
  constructor(parts: {
    ask: AskNames;
    clock: Clock;
    found: (address: string, hostname: string | null) => void;
  }) {
    this.ask = parts.ask;
    this.clock = parts.clock;
    this.found = parts.found;
  }

  /** Requests the name of an address, unless the address is public or was requested recently. */
  want(address: string): void {
    const nowMs = this.clock.monotonicMs();
    if ((this.dueMs.get(address) ?? 0) > nowMs || this.waiting.length >= MAX_WAITING) return;
    if (this.isClosed || !isPrivate(address)) return;
    if (this.dueMs.size >= MAX_KNOWN) this.dueMs.clear();
    this.dueMs.set(address, nowMs + PAUSE_MS.nameless);
    this.waiting.push(address);
    this.next();
  }

  /** Stops all lookups. */
  close(): void {
    this.isClosed = true;
    this.waiting.length = 0;
  }

  private next(): void {
    while (this.inFlight < QUESTIONS_AT_ONCE && this.waiting.length > 0) {
      this.inFlight++;
      void this.askOne(this.waiting.shift()!).finally(() => {
        this.inFlight--;
        this.next();
      });
    }
  }

  private async askOne(address: string): Promise<void> {
    // If there is no answer, the known name is kept.
    const names = await this.ask(address).catch(() => null);
    if (names === null || this.isClosed) return;
    const [hostname] = names;
    if (hostname === undefined) {
      this.found(address, null);
      return;
    }
    this.dueMs.set(address, this.clock.monotonicMs() + PAUSE_MS.named);
    // The name is escaped, because a name in a DNS message may contain any octet.
    this.found(address, escapeUnsafe(hostname.replace(/\.$/, '').toLowerCase()));
  }
}

/** Addresses of RFC 1918, RFC 3927, RFC 4193, RFC 4291 (link-local) and RFC 6598; not the loopback addresses. */
export function isPrivate(text: string): boolean {
  const bytes = addressFromText(text);
  if (bytes === null) return false;
  if (!isMappedIpv4(bytes))
    return (bytes[0]! & 0xfe) === 0xfc || (bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80);
  const [first, second] = [bytes[12]!, bytes[13]!];
  if (first === 10 || (first === 192 && second === 168) || (first === 169 && second === 254)) return true;
  return (first === 172 && second >> 4 === 1) || (first === 100 && second >> 6 === 1);
}
