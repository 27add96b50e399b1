/** The common parts of a running node, and how it stops. */
import type { LoadedConfig } from '../config/parse-config.ts';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../shared/log.ts';
import type { AccessInForce } from './access/access-in-force.ts';
import type { ClusterSecret } from './cluster/cluster-secret.ts';
import type { ClientDirectory } from './clients/client-directory.ts';
import type { JobLeases } from './cluster/leases.ts';
import type { InheritedSockets } from './handover/inherited-sockets.ts';
import type { Configuration } from './settings/configuration.ts';
import type { LeaseWatch } from './clients/lease-watch.ts';
import { type Database } from './db/database.ts';
import type { Stops } from './stopping.ts';

/** The common parts of a node. */
export interface Node {
  readonly loaded: LoadedConfig;
  /** As at the start; `configuration` has what is in force. */
  readonly config: Config;
  readonly configuration: Configuration;
  readonly name: string;
  /** See `nodeUuid`. */
  readonly uuid: string;
  readonly logger: Logger;
  readonly dataDir: string;
  /** Resolves when the data directory is this process's own; the threads answer before, if it takes over from another. */
  readonly mayWrite: Promise<void>;
  /** Whether another process hands the data directory over, and all of this one is to be ready before. */
  readonly isTakingOver: boolean;
  /** Sockets of the process that this one takes over from; null = there are none. */
  readonly inherited: InheritedSockets | null;
  readonly database: Database;
  /** Jobs that one node does for all. */
  readonly jobs: JobLeases;
  readonly secret: ClusterSecret;
  readonly clients: ClientDirectory;
  /** Who may ask. */
  readonly access: AccessInForce;
  readonly leases: LeaseWatch;
  /** Ports that this Weir listens on so far. */
  readonly ownPorts: Set<number>;
  readonly stops: Stops;
}
