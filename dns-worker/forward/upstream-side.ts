/**
 * The upstream side of a resolve thread: the resolver of the pools, with or without validation, and the resolvers of
 * forward zones. Changed settings replace only the resolvers that they affect; replaced resolvers finish their
 * questions in flight.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../shared/clock.ts';
import type { TrustAnchor, TrustPointKeys } from '../../shared/dns/trust-anchors.ts';
import type { Logger } from '../../shared/log.ts';
import type { SealedRecords } from '../../shared/memory/sealed-records.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import type { UpstreamReports, WorkerSettings } from '../../shared/threads/messages.ts';
import { cutContext } from '../dnssec/cut-cache.ts';
import type { TrustPoints } from '../dnssec/trust-chain.ts';
import { ValidatingResolver } from '../dnssec/validating-resolver.ts';
import type { Capabilities } from '../resolve/capability/capabilities.ts';
import { type NodeFlights, SharedResolver } from '../resolve/node-flights.ts';
import { Resolver } from '../resolve/resolver.ts';
import { ZoneResolvers } from '../resolve/zone-resolvers.ts';

/** Milliseconds for which replaced resolvers are kept beyond the time limit of a question. */
const GRACE_MS = 500;

/** The resolver of the pools, and the validating parts around it. */
interface PoolSide {
  readonly resolver: Resolver;
  readonly shared: SharedResolver | undefined;
  readonly validator: ValidatingResolver | undefined;
}

export interface UpstreamSideParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Features that servers support, shared by all threads of the node. */
  readonly records?: Capabilities;
  /** Zones that threads of the node have proven in the same context; null = not shared. */
  readonly shareCuts?: (context: Uint8Array) => SealedRecords | null;
  /** Flights of validation queries, which threads share; each flight takes this many milliseconds at most. */
  readonly flights: (longestMs: number) => NodeFlights;
  /**
   * Order of the servers that the worker's answer thread may query itself; absent = the worker has no answer thread.
   */
  readonly firstServers?: SharedArrayBuffer;
}

/** Queries upstreams. One per resolve thread. */
export class UpstreamSide {
  private readonly parts: UpstreamSideParts;
  private settings: WorkerSettings;
  private pools: PoolSide;
  zones: ZoneResolvers;
  /** Closes replaced parts, each after its timer. */
  private readonly retired = new Map<() => Promise<void>, NodeJS.Timeout>();

  constructor(settings: WorkerSettings, parts: UpstreamSideParts) {
    this.parts = parts;
    this.settings = settings;
    this.pools = this.openPools(settings);
    this.zones = new ZoneResolvers(settings, parts.clock, parts.logger, parts.records);
  }

  /** Resolver of the pools; replaced when pools, validation or timeouts change. */
  get resolver(): Pick<Resolver, 'resolve'> {
    return this.pools.validator ?? this.pools.resolver;
  }

  /** Trust settings; the same object while they are unchanged. */
  get trust(): WorkerSettings['dnssec'] {
    return this.settings.dnssec;
  }

  /** Replaces the settings; `zones` are the forward zones of the snapshot. */
  use(next: WorkerSettings, zones: readonly ForwardZone[]): void {
    const before = this.settings;
    const isSame = (name: keyof WorkerSettings): boolean => isDeepStrictEqual(before[name], next[name]);
    this.settings = isSame('dnssec') ? { ...next, dnssec: before.dnssec } : next;
    this.pools.validator?.useClockFloor(next.clockFloorMs);
    const keepsTiming = (
      ['queryTimeoutMs', 'bootstrap', 'healthCheck', 'extraCa', 'hardening'] as const
    ).every(isSame);
    if (!keepsTiming || !isSame('pools') || !isSame('dnssec')) {
      const { pools } = this;
      pools.resolver.retire();
      this.pools = this.openPools(this.settings);
      this.retire(before.queryTimeoutMs, () => closePools(pools));
    }
    if (keepsTiming) return;
    const replaced = this.zones;
    const { clock, logger, records } = this.parts;
    this.zones = new ZoneResolvers(this.settings, clock, logger, records);
    void this.zones.follow(zones);
    this.retire(before.queryTimeoutMs, () => replaced.close());
  }

  report(): UpstreamReports {
    return { pools: this.pools.resolver.report(), zones: this.zones.report() };
  }

  /** The DNSKEY RRset of a zone with trust anchors; null = no response, or no validation. */
  async observe(zone: Uint8Array): Promise<TrustPointKeys | null> {
    return (await this.pools.validator?.observe(zone)) ?? null;
  }

  /** Replaces the trust anchors. */
  validateWith(anchors: readonly TrustAnchor[]): void {
    this.pools.validator?.trust(anchors);
  }

  /** Reports that a client has queried the name that detects forwarding loops. */
  noteLoop(token: string, client: string): void {
    this.pools.resolver.noteLoop(token, client);
    this.zones.noteLoop(token, client);
  }

  /** Closes everything; questions in flight fail. */
  async close(): Promise<void> {
    const retired = [...this.retired];
    this.retired.clear();
    for (const [, timer] of retired) clearTimeout(timer);
    await Promise.all([closePools(this.pools), this.zones.close(), ...retired.map(([end]) => end())]);
  }

  private openPools(settings: WorkerSettings): PoolSide {
    const { clock, logger, records, firstServers = null } = this.parts;
    const { dnssec, queryTimeoutMs: timeoutMs } = settings;
    const resolver = new Resolver(settings, clock, logger, records, firstServers);
    if (dnssec === null) return { resolver, shared: undefined, validator: undefined };
    const shared = new SharedResolver(resolver, this.parts.flights(timeoutMs), clock);
    const onDoubt = (upstream: number, zone: Uint8Array): void => resolver.checkSignatures(upstream, zone);
    const share = (points: TrustPoints): SealedRecords | null =>
      this.parts.shareCuts?.(cutContext(settings.pools, points)) ?? null;
    const validator = new ValidatingResolver(shared, dnssec, { clock, timeoutMs, share }, logger, onDoubt);
    validator.useClockFloor(settings.clockFloorMs);
    return { resolver, shared, validator };
  }

  private retire(longestMs: number, end: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.retired.delete(end);
      void end();
    }, longestMs + GRACE_MS).unref();
    this.retired.set(end, timer);
  }
}

async function closePools({ resolver, shared }: PoolSide): Promise<void> {
  shared?.close();
  await resolver.close();
}
