/**
 * Reports clients that were refused, and recent clients that will be refused after the grace period. All data is in
 * memory.
 */
import type { Clock } from '../../../shared/clock.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { admitsAddress } from '../../../shared/policy/access.ts';
import type { Access } from '../../../shared/policy/access.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import type { SeenAddress } from '../devices/client-record.ts';
import type { ActiveAccess, AccessRows } from './active-access.ts';

/** Clients that have not been seen for this many milliseconds are not announced. */
const RECENT_MS = 7 * 24 * 3_600_000;

/** The refused clients of one network since the start. */
export interface RefusedNetworkReport {
  /** The network in canonical form. */
  readonly network: string;
  /** The address that was refused last. */
  readonly lastClient: string;
  /** Time of the first refusal in Unix milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** Recent clients that still have access although `dns.allowed_clients` does not contain them. */
export interface Announcement {
  /** Unix milliseconds from which they are refused. */
  readonly untilMs: number;
  readonly clients: readonly SeenAddress[];
}

/** Dependencies of `AccessReports`. */
export interface AccessReportParts {
  readonly access: Pick<ActiveAccess, 'current' | 'afterGrace' | 'graceEndMs'>;
  readonly rows: () => AccessRows;
  readonly clients: Pick<ClientDirectory, 'seenSince'>;
  readonly refused: () => readonly RefusedNetworkReport[];
  readonly clock: Clock;
}

/** Reports for the API and health. */
export class AccessReports {
  private readonly parts: AccessReportParts;

  constructor(parts: AccessReportParts) {
    this.parts = parts;
  }

  /** Clients of the last week that will be refused after the grace period; null = the grace period has ended. */
  announcement(): Announcement | null {
    const { access, rows, clients, clock } = this.parts;
    const untilMs = access.graceEndMs(rows());
    if (untilMs === null) return null;
    const later = access.afterGrace();
    const found = clients
      .seenSince(clock.nowMs() - RECENT_MS)
      .filter(({ address }) => isRefused(later, address));
    return { untilMs, clients: found };
  }

  /** Networks that currently have no access, the latest refusal first. */
  refused(): RefusedNetworkReport[] {
    const { access, rows, refused } = this.parts;
    const now = access.current(rows());
    return refused()
      .filter(({ lastClient }) => isRefused(now, lastClient))
      .sort((a, b) => b.lastMs - a.lastMs);
  }
}

function isRefused(access: Access, address: string): boolean {
  const bytes = addressFromText(address);
  return bytes !== null && !admitsAddress(access, bytes);
}
