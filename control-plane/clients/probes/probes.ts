/**
 * Probes: one-time names below a zone that never leaves this server, and whether they were asked, which says that a
 * device uses this node, and from which address. In memory of this node only, few and short-lived; the log never has
 * them.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { isProbeName, PROBE_TOKEN_LENGTH, PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import { addressToText } from '../../../shared/net/ip.ts';
import { PROTOCOL_NAMES, type ProtocolName } from '../../../shared/query-log.ts';
import type { QueryLogRow } from '../../query-log/rows/row.ts';

/** How long a probe may be asked and read. */
export const PROBE_LIFE_MS = 300_000;
/** Most probes at once. */
const MAX_PROBES = 1000;

/** Most askers of one probe that are remembered: a device asks from a few addresses. */
const MAX_ASKERS = 8;

/** An address and a transport from which a probe's name was asked. */
export interface ProbeAsker {
  readonly client: string;
  readonly protocol: ProtocolName;
  readonly queries: number;
}

/** The first question for a probe's name. */
export interface ProbeAnswer {
  /** Unix milliseconds. */
  readonly askedMs: number;
  readonly client: string;
  readonly protocol: ProtocolName;
}

/** A probe. */
export interface Probe {
  /** Known to whoever made it: the name is seen on the network. */
  readonly id: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly first: ProbeAnswer | null;
  /** The earliest first. */
  readonly askers: readonly ProbeAsker[];
  readonly queries: number;
}

interface KeptProbe extends Probe {
  readonly endMonotonicMs: number;
  first: ProbeAnswer | null;
  readonly askers: { client: string; protocol: ProtocolName; queries: number }[];
  queries: number;
}

/** The probes of this node. */
export class Probes {
  private readonly clock: Clock;
  /** The oldest first. */
  private readonly byId = new Map<string, KeptProbe>();
  private readonly byToken = new Map<string, KeptProbe>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** A new one; null if there are too many. */
  create(): Probe | null {
    this.removeOver();
    if (this.byId.size >= MAX_PROBES) return null;
    const token = randomBytes(PROBE_TOKEN_LENGTH / 2).toString('hex');
    const createdMs = this.clock.nowMs();
    const probe: KeptProbe = {
      id: randomBytes(16).toString('base64url'),
      name: `${token}.${PROBE_ZONE}`,
      createdMs,
      expiresMs: createdMs + PROBE_LIFE_MS,
      endMonotonicMs: this.clock.monotonicMs() + PROBE_LIFE_MS,
      first: null,
      askers: [],
      queries: 0,
    };
    this.byId.set(probe.id, probe);
    this.byToken.set(token, probe);
    return probe;
  }

  /** Undefined for one that there is not, or no longer. */
  get(id: string): Probe | undefined {
    this.removeOver();
    return this.byId.get(id);
  }

  /** Notes a query, if it is for the name of a probe. Each query of the node comes here. */
  see(row: QueryLogRow): void {
    const { bytes, qname, client } = row;
    if (this.byToken.size === 0 || !isProbeName(bytes, qname.at, qname.length)) return;
    const token = Buffer.from(bytes.buffer, bytes.byteOffset + qname.at + 1, PROBE_TOKEN_LENGTH).toString(
      'latin1',
    );
    const probe = this.byToken.get(token);
    if (probe === undefined) return;
    probe.queries += 1;
    const from = { client: addressToText(bytes, client.at), protocol: PROTOCOL_NAMES[row.protocol]! };
    probe.first ??= { askedMs: Math.floor(row.timestampMs), ...from };
    const known = probe.askers.find((one) => one.client === from.client && one.protocol === from.protocol);
    if (known !== undefined) known.queries += 1;
    else if (probe.askers.length < MAX_ASKERS) probe.askers.push({ ...from, queries: 1 });
  }

  private removeOver(): void {
    const nowMs = this.clock.monotonicMs();
    for (const { id, name, endMonotonicMs } of this.byId.values()) {
      if (endMonotonicMs > nowMs) return;
      this.byId.delete(id);
      this.byToken.delete(name.slice(0, PROBE_TOKEN_LENGTH));
    }
  }
}
