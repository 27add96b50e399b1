/**
 * Resolvers of the forward zones: one for each definition, made with it, so that its servers are watched
 * before anybody asks, and closed with all its sockets when the definition goes. Zones share nothing with
 * each other or with the pools: neither questions in flight nor answers, nor what is known of a server.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamReport } from '../../shared/threads/messages.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import { zoneProbe } from './probe.ts';
import { Resolver, type ResolverSettings } from './resolver.ts';

/** What the resolvers are made with; pools and probe are the zone's servers and its name. */
export type ZoneResolverSettings = Omit<ResolverSettings, 'pools' | 'probe'>;

/** The resolvers by partition. One per resolve thread. */
export class ZoneResolvers {
  private readonly settings: ZoneResolverSettings;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly byPartition = new Map<number, Resolver>();

  constructor(settings: ZoneResolverSettings, clock: Clock, logger: Logger) {
    this.settings = settings;
    this.clock = clock;
    this.logger = logger;
  }

  /** The resolver of a zone. */
  of(zone: ForwardZone): Resolver {
    let resolver = this.byPartition.get(zone.partition);
    if (resolver === undefined) {
      // Servers of one zone are taken to say the same: the first answer counts, and a dead one costs no wait.
      const pool = { name: zone.zone, strategy: 'Parallel', priority: 0, servers: zone.servers } as const;
      const [name] = zone.names;
      const settings = {
        ...this.settings,
        pools: [pool],
        ...(name !== undefined && { probe: zoneProbe(name) }),
      };
      resolver = new Resolver(settings, this.clock, this.logger);
      this.byPartition.set(zone.partition, resolver);
    }
    return resolver;
  }

  /** The state of every server of every zone, under the name of the zone. */
  report(): UpstreamReport[] {
    return [...this.byPartition.values()].flatMap((resolver) => resolver.report());
  }

  /**
   * Makes those that are missing of `zones` at once, and closes those of other zones: what they were asked
   * fails.
   */
  follow(zones: readonly ForwardZone[]): Promise<void> {
    for (const zone of zones) this.of(zone);
    return this.keepOnly(zones);
  }

  private async keepOnly(zones: readonly ForwardZone[]): Promise<void> {
    const kept = new Set(zones.map(({ partition }) => partition));
    const gone = [...this.byPartition].filter(([partition]) => !kept.has(partition));
    for (const [partition] of gone) this.byPartition.delete(partition);
    await Promise.all(gone.map(([, resolver]) => resolver.close()));
  }

  /** Closes all. */
  close(): Promise<void> {
    return this.keepOnly([]);
  }
}
