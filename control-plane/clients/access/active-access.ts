/**
 * Decides which clients may query this node, according to the configuration, the current networks of this machine, and
 * the addresses of clients that are blocked by MAC. On the first day after an upgrade to a release that refuses more
 * clients, all clients still have access, unless the allowed clients are configured.
 */
import { networkInterfaces } from 'node:os';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import { networkFromText, networkToText } from '../../../shared/net/cidr.ts';
import type { Network } from '../../../shared/net/cidr.ts';
import { accessOf, isSameAccess, withBlockedAddresses } from '../../../shared/policy/access.ts';
import type { Access } from '../../../shared/policy/access.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';

/** Milliseconds between two checks of the networks of this machine. */
const POLL_MS = 5000;
const DAY_MS = 86_400_000;
const EVERYONE = ['any'];
/** Suffix of a network that contains all addresses, which an interface with a wrong netmask may have. */
const ALL_ADDRESSES = '/0';

/** Parts of the node that this class needs. */
export interface AccessParts {
  readonly configuration: { current(): Config; sources(): Readonly<Record<string, string>> };
  /** Returns the addresses at which a MAC was seen. */
  readonly clients: { addressesOfMac(mac: string): readonly string[] };
  readonly clock: Clock;
  /** Networks of this machine's interfaces, `address/length`. */
  readonly connected?: () => readonly string[];
}

/** Policy rows on which access depends. */
export type AccessRows = Pick<PolicyRows, 'accessGraceEndMs'>;

/** Decides which clients may query the node. One per node. */
export class ActiveAccess {
  private readonly parts: AccessParts;
  private readonly connected: () => readonly string[];

  constructor(parts: AccessParts) {
    this.parts = parts;
    this.connected = parts.connected ?? connectedNetworks;
  }

  /** The access rules that apply now. */
  current(rows: AccessRows): Access {
    return this.by(this.graceEndMs(rows) === null ? this.allowed() : EVERYONE);
  }

  /** The access rules after the grace period; without a grace period, the current rules. */
  afterGrace(): Access {
    return this.by(this.allowed());
  }

  /** Time at which refusals begin, in Unix milliseconds; null = they have begun. */
  graceEndMs({ accessGraceEndMs: endMs }: AccessRows): number | null {
    const nowMs = this.parts.clock.nowMs();
    if (endMs === null || endMs <= nowMs) return null;
    if (this.parts.configuration.sources()['dns.allowed_clients'] !== 'default') return null;
    // A later time was stored while the clock was wrong, so it is limited.
    return Math.min(endMs, nowMs + DAY_MS);
  }

  /**
   * Calls `apply` after each change of access that is not a change of the configuration, and retries until `apply`
   * succeeds; returns a function that stops the calls.
   */
  follow(rows: () => AccessRows, apply: () => Promise<void>, failed: (error: unknown) => void): () => void {
    let applied: Access | null = this.current(rows());
    const timer = setInterval(() => {
      const now = this.current(rows());
      if (applied !== null && isSameAccess(applied, now)) return;
      applied = now;
      apply().catch((error: unknown) => {
        applied = null;
        failed(error);
      });
    }, POLL_MS);
    return () => clearInterval(timer);
  }

  private allowed(): readonly string[] {
    return this.parts.configuration.current().dns.allowed_clients;
  }

  private by(allowed: readonly string[]): Access {
    const { blocked_clients: blocked } = this.parts.configuration.current().dns;
    const access = accessOf(allowed, blocked, networksOf(this.connected()));
    return withBlockedAddresses(
      access,
      access.blockedMacs.flatMap((mac) => this.parts.clients.addressesOfMac(mac)),
    );
  }
}

/** Networks of the interfaces. A point-to-point address counts as a network. */
function connectedNetworks(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ cidr }) => (cidr === null ? [] : cidr.replace(/%[^/]*/, ''))),
  );
}

/** Networks without duplicates, so that temporary addresses in a network cause no change. */
function networksOf(connected: readonly string[]): Network[] {
  const texts = connected.flatMap((text) => {
    const network = text.endsWith(ALL_ADDRESSES) ? null : networkFromText(text);
    return network === null ? [] : networkToText(network);
  });
  return [...new Set(texts)].sort().map((text) => networkFromText(text)!);
}
