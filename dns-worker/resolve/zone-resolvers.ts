/**
 * Resolvers of the forward zones: one for each definition that was asked for, made at its first question,
 * closed with all its sockets when the definition goes. Zones share nothing with each other or with the
 * pools: neither questions in flight nor answers.
 */
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone.ts';
import { Resolver, type ResolverSettings } from './resolver.ts';

/** What the resolvers are made with; the pools are the zone's servers. */
export type ZoneResolverSettings = Omit<ResolverSettings, 'pools'>;

/** The resolvers by partition. One a resolve thread. */
export class ZoneResolvers {
  readonly #settings: ZoneResolverSettings;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #byPartition = new Map<number, Resolver>();

  constructor(settings: ZoneResolverSettings, clock: Clock, logger: Logger) {
    this.#settings = settings;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The resolver of a zone. */
  of(zone: ForwardZone): Resolver {
    let resolver = this.#byPartition.get(zone.partition);
    if (resolver === undefined) {
      // Servers of one zone are taken to say the same: the first answer counts, and a dead one costs no wait.
      const pool = { name: zone.zone, strategy: 'Parallel', priority: 0, servers: zone.servers } as const;
      resolver = new Resolver({ ...this.#settings, pools: [pool] }, this.#clock, this.#logger);
      this.#byPartition.set(zone.partition, resolver);
    }
    return resolver;
  }

  /** Closes those whose zones are not among `zones`; what they were asked fails. */
  async keepOnly(zones: readonly ForwardZone[]): Promise<void> {
    const kept = new Set(zones.map(({ partition }) => partition));
    const gone = [...this.#byPartition].filter(([partition]) => !kept.has(partition));
    for (const [partition] of gone) this.#byPartition.delete(partition);
    await Promise.all(gone.map(([, resolver]) => resolver.close()));
  }

  /** Closes all. */
  close(): Promise<void> {
    return this.keepOnly([]);
  }
}
