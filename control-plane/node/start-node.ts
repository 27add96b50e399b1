/** Opens the common parts of a node: the first steps of a start. */
import { readFileSync } from 'node:fs';
import type { LoadedConfig } from '../../config/parse-config.ts';
import { bootClock as clock } from '../host/clock/boot-clock.ts';
import { ActiveAccess } from '../clients/access/active-access.ts';
import { ClientDirectory } from '../clients/devices/client-directory.ts';
import { reportVendors } from '../clients/vendors/vendor-table.ts';
import { LeaseWatch } from '../clients/devices/lease-watch.ts';
import { ClusterSecret } from '../storage/cluster/cluster-secret.ts';
import { JobLeases } from '../storage/cluster/leases.ts';
import { nodeUuid } from '../storage/cluster/node-uuid.ts';
import { databaseOptionsOf } from '../storage/db/database-target.ts';
import type { DataDirLock } from '../storage/db/data-dir-lock.ts';
import { type Database, startDatabase } from '../storage/db/database.ts';
import type { InheritedSockets } from './upgrade/inherited-sockets.ts';
import type { ServiceManager } from './upgrade/service-manager.ts';
import type { StartSteps } from './upgrade/start-steps.ts';
import type { UpgradeTarget } from './upgrade/upgrade-target.ts';
import type { RecentLines } from '../host/log/recent-lines.ts';
import type { AdjustableLogger } from '../host/log/winston-logger.ts';
import type { Node } from './node.ts';
import { Configuration } from '../policy/settings/configuration.ts';
import { nodeNameOf } from '../policy/settings/derived.ts';
import { fileFaults } from './thread-settings/worker-settings.ts';
import { refuseTaken } from '../web/auth/accounts/user-store.ts';
import { openNeighbourTable } from '../../shared/net/kernel/neighbour-table.ts';
import { openDataDir } from './start-handover.ts';
import type { Stops } from './stopping.ts';
import { version } from '../host/version.ts';
import { type ChosenPort, chooseDnsPort, portState } from '../threads/dns-port.ts';

/** Milliseconds reserved for ending the embedded database, by force if necessary. */
const DATABASE_MS = 700;

interface NodeStart {
  readonly loaded: LoadedConfig;
  readonly logger: AdjustableLogger;
  readonly recentLines: RecentLines;
  readonly service: Pick<ServiceManager, 'storedSockets'>;
  readonly stops: Stops;
  /** Whether to take over from a process that runs on the data directory, if there is one. */
  readonly takesOver: boolean;
  /** `taking` is set when another process is found. */
  readonly handover: { taking: UpgradeTarget | null };
  readonly steps: StartSteps;
}

/** Opens the common parts, each before the parts that need it. The lock of the data directory is first. */
export async function openNode(start: NodeStart) {
  const { loaded, logger, recentLines, service, stops, takesOver, handover, steps } = start;
  const startedAtMs = clock.monotonicMs();
  steps.begin('open the data directory');
  const { lock, taking } = await openDataDir(loaded.config.server.data_dir, logger, takesOver);
  handover.taking = taking;
  stops.push(() => lock.release());
  const stored = taking === null ? service.storedSockets() : null;
  const { port: dnsPort } = await dnsPortOf(loaded, taking?.dnsPort ?? stored?.dnsPort(), stored !== null);
  const database = openDatabase(loaded, lock, { logger, stops });
  const secret = new ClusterSecret({ database, dataDir: lock.dataDir, logger });
  stops.push(secret.follow());
  const configuration = new Configuration({
    loaded,
    dataDir: lock.dataDir,
    database,
    logger,
    fileFaults,
    refuseTaken,
  });
  configuration.onChange((next, before) => {
    if (next.logging !== before.logging) logger.adjust(next.logging);
  });
  const config = configuration.current();
  const uuid = nodeUuid(lock.dataDir, logger);
  reportVendors((reason) => logger.warn('vendor names of devices unavailable', { reason }));
  const clients = new ClientDirectory({ site: config.server.site, clock });
  const neighbours = openNeighbourTable(logger, (path) => readFileSync(path, 'utf8'));
  // Done now, so that the first snapshot has the addresses of clients that are identified by MAC.
  clients.locateAll(neighbours());
  const leases = new LeaseWatch({ paths: () => configuration.current().dns.dhcp_leases, clock, logger });
  configuration.onChange(async (next, before) => {
    if (next.dns.dhcp_leases !== before.dns.dhcp_leases) await leases.refresh();
  });
  const inherited = (await takeSockets(steps, taking)) ?? stored;
  const node: Node = {
    loaded,
    config,
    configuration,
    nodeName: nodeNameOf(config),
    uuid,
    version,
    clock,
    startedAtMs,
    logger,
    recentLines,
    dataDir: lock.dataDir,
    mayWrite: lock.taken,
    isTakingOver: taking !== null && inherited !== null,
    inherited,
    database,
    jobs: new JobLeases({ database, logger, node: uuid }),
    secret,
    clients,
    access: new ActiveAccess({ configuration, clients, clock }),
    leases,
    neighbours,
    dnsPort,
    ownPorts: new Set([dnsPort]),
    stops,
  };
  return { node, taking };
}

/** The port of inherited sockets, unless another port is configured. */
async function dnsPortOf(
  { config, explicit }: LoadedConfig,
  known: number | undefined,
  isStored: boolean,
): Promise<ChosenPort> {
  const { bind_address: addresses, dns_port: port } = config.server;
  const isExplicit = explicit.has('server.dns_port');
  // Sockets that systemd has stored may have another port, because the configured one was in use at that time.
  const isFreeNow = isStored && known !== port && (await portState(addresses, port)) === 'free';
  if (known !== undefined && (known === port || !isExplicit) && !isFreeNow)
    return { port: known, notice: null };
  return chooseDnsPort(addresses, port, isExplicit);
}

function openDatabase(
  { config }: LoadedConfig,
  lock: DataDirLock,
  { logger, stops }: Pick<NodeStart, 'logger' | 'stops'>,
): Database {
  const database = startDatabase({
    ...databaseOptionsOf(config.database),
    lock,
    logger: logger.child({ part: 'database' }),
  });
  stops.push({ stop: (withinMs) => database.close(withinMs), keptMs: DATABASE_MS });
  return database;
}

/**
 * Takes the sockets of the other process in a handover. The other process then pauses its API, so code is loaded first
 * to keep the pause short.
 */
async function takeSockets(
  steps: StartSteps,
  taking: UpgradeTarget | null,
): Promise<InheritedSockets | null> {
  if (taking === null) return null;
  steps.begin('load the code');
  await Promise.all([
    import('./start-policy.ts'),
    import('../clients/devices/start-clients.ts'),
    import('./start-web.ts'),
  ]);
  steps.begin('take over the sockets');
  return taking.sockets();
}
