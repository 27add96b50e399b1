/**
 * Resolvers of the forward zones: one per zone definition. A resolver is created together with its zone definition, so
 * that the servers are probed before the first question, and is closed with all its sockets when the definition is
 * removed. Zones share no questions in flight, answers or health with each other or with the pools.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamReport } from '../../shared/threads/messages.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import { Capabilities } from './capability/capabilities.ts';
import { zoneProbe } from './probe.ts';
import { Resolver, type ResolverSettings } from './resolver.ts';

/** Settings of the resolvers; pools, probe and name are derived from the zone. */
export type ZoneResolverSettings = Omit<ResolverSettings, 'pools' | 'probe' | 'zone'>;

/** The resolvers by partition. One per resolve thread. */
export class ZoneResolvers {
  private readonly settings: ZoneResolverSettings;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly records: Capabilities;
  private readonly byPartition = new Map<number, Resolver>();

  /** `records`: as in `Resolver`. */
  constructor(
    settings: ZoneResolverSettings,
    clock: Clock,
    logger: Logger,
    records = new Capabilities(clock),
  ) {
    this.settings = settings;
    this.clock = clock;
    this.logger = logger;
    this.records = records;
  }

  /** The resolver of a zone. */
  of(zone: ForwardZone): Resolver {
    let resolver = this.byPartition.get(zone.partition);
    if (resolver === undefined) {
      // The servers of one zone are assumed to give the same answers: the first answer counts, and a failed server
      // causes no wait.
      const pool = { name: zone.zone, strategy: 'Parallel', priority: 0, servers: zone.servers } as const;
      const [name] = zone.names;
      const settings = {
        ...this.settings,
        pools: [pool],
        ...(name !== undefined && { probe: zoneProbe(name), zone: name }),
      };
      resolver = new Resolver(settings, this.clock, this.logger, this.records);
      this.byPartition.set(zone.partition, resolver);
    }
    return resolver;
  }

  /** The state of every server of every zone, under the name of the zone. */
  report(): UpstreamReport[] {
    return [...this.byPartition.values()].flatMap((resolver) => resolver.report());
  }

  /** Reports that a client has queried the name that detects forwarding loops. */
  noteLoop(token: string, client: string): void {
    for (const resolver of this.byPartition.values()) resolver.noteLoop(token, client);
  }

  /** Creates missing resolvers of `zones`, and closes those of removed zones, whose questions fail. */
  follow(zones: readonly ForwardZone[]): Promise<void> {
    const asked = zones.filter(({ servers }) => servers.length > 0);
    for (const zone of asked) this.of(zone);
    return this.keepOnly(asked);
  }

  private async keepOnly(zones: readonly ForwardZone[]): Promise<void> {
    const kept = new Set(zones.map(({ partition }) => partition));
    const gone = [...this.byPartition].filter(([partition]) => !kept.has(partition));
    for (const [partition] of gone) this.byPartition.delete(partition);
    await Promise.all(gone.map(([, resolver]) => resolver.close()));
  }

  /** Closes all resolvers. */
  close(): Promise<void> {
    return this.keepOnly([]);
  }
}
