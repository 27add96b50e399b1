/**
 * Everything of a resolve thread that asks upstreams: the resolver of the pools, with or without validation, and those
 * of the forward zones. New settings make new ones where they differ; those before finish what they have in flight.
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

/** Milliseconds beyond the time of a question for which what was replaced is kept. */
const GRACE_MS = 500;

/** The resolver that asks the pools, and the parts before it that validate answers. */
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
  /** Zones proven by all threads of the node in the same context; null = by no other thread. */
  readonly shareCuts?: (context: Uint8Array) => SealedRecords | null;
  /** Flights of the questions for validation that last so many milliseconds at most. */
  readonly flights: (longestMs: number) => NodeFlights;
  /** Says whom the worker's answer thread may ask by itself; absent = there is none. */
  readonly firstServers?: SharedArrayBuffer;
}

/** Asks upstreams. One per resolve thread. */
export class UpstreamSide {
  private readonly parts: UpstreamSideParts;
  private settings: WorkerSettings;
  private pools: PoolSide;
  zones: ZoneResolvers;
  /** Ends replaced parts, each after its timer. */
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

  /** Asks by other settings from now on; `zones` are those of the snapshot. */
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

  /** The DNSKEY RRset of a zone with trust anchors; null = no answer, or nothing is validated. */
  async observe(zone: Uint8Array): Promise<TrustPointKeys | null> {
    return (await this.pools.validator?.observe(zone)) ?? null;
  }

  /** Validates with these trust anchors from now on. */
  validateWith(anchors: readonly TrustAnchor[]): void {
    this.pools.validator?.trust(anchors);
  }

  /** A client has asked for the name by which a loop is recognised. */
  noteLoop(token: string, client: string): void {
    this.pools.resolver.noteLoop(token, client);
    this.zones.noteLoop(token, client);
  }

  /** Ends everything; questions in flight fail. */
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
