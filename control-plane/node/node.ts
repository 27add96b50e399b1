/**
 * The common services of a node, which exist before it answers queries. Each step of the start takes the results of
 * earlier steps and adds its own services: `startDns()`, `startPolicy()`, then `startWeb()`, whose context contains the
 * services of all features. Features list the services that they use in their parameters, so that one name means the
 * same service everywhere.
 */
import type { LoadedConfig } from '../../config/parse-config.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { RecentLines } from '../host/log/recent-lines.ts';
import type { ReadNeighbours } from '../../shared/net/kernel/neighbour-table.ts';
import type { ActiveAccess } from '../clients/access/active-access.ts';
import type { ClusterSecret } from '../storage/cluster/cluster-secret.ts';
import type { ClientDirectory } from '../clients/devices/client-directory.ts';
import type { JobLeases } from '../storage/cluster/leases.ts';
import type { InheritedSockets } from './upgrade/inherited-sockets.ts';
import type { Configuration } from '../policy/settings/configuration.ts';
import type { LeaseWatch } from '../clients/devices/lease-watch.ts';
import { type Database } from '../storage/db/database.ts';
import type { Stops } from './stopping.ts';

/** The common services of a node. */
export interface Node {
  readonly loaded: LoadedConfig;
  /** Configuration at the start of the process; `configuration` has the active values. */
  readonly config: Config;
  readonly configuration: Configuration;
  /** `server.node_name`. */
  readonly nodeName: string;
  /** UUID of the data directory, see `nodeUuid`. */
  readonly uuid: string;
  readonly version: string;
  readonly clock: Clock;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
  readonly logger: Logger;
  /** The last warnings and errors of `logger`. */
  readonly recentLines: Pick<RecentLines, 'all'>;
  readonly dataDir: string;
  /**
   * Resolves when this process owns the data directory. In a takeover, the threads answer queries earlier than that.
   */
  readonly mayWrite: Promise<void>;
  /** Whether another process will hand over the data directory; this process must first be completely ready. */
  readonly isTakingOver: boolean;
  /** Sockets inherited from the process that this one replaces; null = none. */
  readonly inherited: InheritedSockets | null;
  readonly database: Database;
  /** Jobs that one node does for all nodes. */
  readonly jobs: JobLeases;
  readonly secret: ClusterSecret;
  readonly clients: ClientDirectory;
  /** Clients that may send queries. */
  readonly access: ActiveAccess;
  readonly leases: LeaseWatch;
  /** Reads the MAC addresses that the kernel knows. */
  readonly neighbours: ReadNeighbours;
  /** The port on which DNS queries are answered. It differs from the configured port if that port was not available. */
  readonly dnsPort: number;
  /** Ports on which this process currently listens. */
  readonly ownPorts: Set<number>;
  readonly stops: Stops;
}
