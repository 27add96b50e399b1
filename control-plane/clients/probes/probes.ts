/**
 * Probes: one-time names below a zone that is never forwarded. If the name of a probe is queried, the device uses this
 * node, and its address becomes known. Probes are few and short-lived, so they are only in the memory of this node.
 * They are never logged.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { PROBE_TOKEN_LENGTH, PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import type { ProtocolName } from '../../../shared/query-log.ts';
import type { ProbeQuery } from './probe-watch.ts';

/** Lifetime of a probe. */
export const PROBE_LIFE_MS = 300_000;
/** Maximum number of concurrent probes. */
const MAX_PROBES = 1000;

/** Maximum number of addresses per probe: a device only uses a few. */
const MAX_ASKERS = 8;

/** An address and a transport from which a probe's name was queried. */
export interface ProbeAsker {
  readonly client: string;
  readonly protocol: ProtocolName;
  readonly queries: number;
}

/** The first query for a probe's name. */
export interface ProbeAnswer {
  /** Unix milliseconds. */
  readonly askedMs: number;
  readonly client: string;
  readonly protocol: ProtocolName;
}

/** A probe. */
export interface Probe {
  /** Known only to the creator of the probe, unlike the name, which is visible on the network. */
  readonly id: string;
  readonly name: string;
  /** In Unix milliseconds. */
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly first: ProbeAnswer | null;
  /** Clients that sent queries for the name, in the order of their first query. */
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
  /** Probes by id, oldest first. */
  private readonly byId = new Map<string, KeptProbe>();
  private readonly byToken = new Map<string, KeptProbe>();
  private readonly onTokens: (tokens: readonly string[]) => void;

  /**
   * `onTokens` is called with the tokens of all open probes whenever a probe is created, before that probe is returned.
   */
  constructor(clock: Clock, onTokens: (tokens: readonly string[]) => void) {
    this.clock = clock;
    this.onTokens = onTokens;
  }

  /** A new probe; null if there are too many. */
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
    this.onTokens([...this.byToken.keys()]);
    return probe;
  }

  /** A probe; undefined if it does not exist or has expired. */
  get(id: string): Probe | undefined {
    this.removeOver();
    return this.byId.get(id);
  }

  /** Records a query for the name of a probe, unless the probe has expired. */
  note({ token, askedMs, client, protocol }: ProbeQuery): void {
    const probe = this.byToken.get(token);
    if (probe === undefined) return;
    probe.queries += 1;
    probe.first ??= { askedMs, client, protocol };
    const known = probe.askers.find((one) => one.client === client && one.protocol === protocol);
    if (known !== undefined) known.queries += 1;
    else if (probe.askers.length < MAX_ASKERS) probe.askers.push({ client, protocol, queries: 1 });
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
