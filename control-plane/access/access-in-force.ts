/**
 * Who may ask on this node: the keys of the configuration, the networks of this machine as they change, and the
 * addresses of clients that are blocked by their MAC. For the first day after an upgrade from a release that answered
 * everyone, everyone still may, unless people have said who may.
 */
import { networkInterfaces } from 'node:os';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../shared/clock.ts';
import { networkFromText } from '../../shared/net/cidr.ts';
import type { Network } from '../../shared/net/cidr.ts';
import { accessOf, isSameAccess, withBlockedAddresses } from '../../shared/policy/access.ts';
import type { Access } from '../../shared/policy/access.ts';
import type { PolicyRows } from '../policy/rows.ts';

/** How often the networks of this machine are looked at. */
const LOOK_MS = 5000;
const EVERYONE = ['any'];

/** What it needs of the node. */
export interface AccessParts {
  readonly configuration: { current(): Config; sources(): Readonly<Record<string, string>> };
  /** Knows the addresses at which a MAC is seen. */
  readonly clients: { addressesOfMac(mac: string): readonly string[] };
  readonly clock: Clock;
  /** Networks of this machine's interfaces, `address/length`. */
  readonly connected?: () => readonly string[];
}

/** The rows that it depends on. */
export type AccessRows = Pick<PolicyRows, 'accessGraceEndMs'>;

/** Who may ask. One per node. */
export class AccessInForce {
  private readonly parts: AccessParts;
  private readonly connected: () => readonly string[];

  constructor(parts: AccessParts) {
    this.parts = parts;
    this.connected = parts.connected ?? connectedNetworks;
  }

  /** Who may ask now. */
  current(rows: AccessRows): Access {
    return this.by(this.graceEndMs(rows) === null ? this.allowed() : EVERYONE);
  }

  /** Who may ask once the day of grace is over; the same as now if there is none. */
  afterGrace(): Access {
    return this.by(this.allowed());
  }

  /** When those that would be refused begin to be, Unix milliseconds; null = they are already. */
  graceEndMs({ accessGraceEndMs: endMs }: AccessRows): number | null {
    if (endMs === null || endMs <= this.parts.clock.nowMs()) return null;
    return this.parts.configuration.sources()['dns.allowed_clients'] === 'default' ? endMs : null;
  }

  /** Calls `changed` after each change that is not one of the configuration; returns how to stop that. */
  follow(rows: () => AccessRows, changed: () => void): () => void {
    let before = this.current(rows());
    const timer = setInterval(() => {
      const now = this.current(rows());
      if (!isSameAccess(before, now)) changed();
      before = now;
    }, LOOK_MS);
    return () => clearInterval(timer);
  }

  private allowed(): readonly string[] {
    return this.parts.configuration.current().dns.allowed_clients;
  }

  private by(allowed: readonly string[]): Access {
    const { blocked_clients: blocked } = this.parts.configuration.current().dns;
    const access = accessOf(allowed, blocked, this.connectedNetworks());
    return withBlockedAddresses(
      access,
      access.blockedMacs.flatMap((mac) => this.parts.clients.addressesOfMac(mac)),
    );
  }

  private connectedNetworks(): Network[] {
    return this.connected().flatMap((text) => networkFromText(text) ?? []);
  }
}

/** Networks of the interfaces. A point-to-point address is a network by itself. */
function connectedNetworks(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ cidr }) => (cidr === null ? [] : cidr.replace(/%[^/]*/, ''))),
  );
}
