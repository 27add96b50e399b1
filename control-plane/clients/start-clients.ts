/** Assembles and starts client discovery. */
import { reasonOf } from '../../shared/thrown.ts';
import type { AccessInForce } from '../access/access-in-force.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { WorkerMemory } from '../../shared/threads/messages.ts';
import type { Database } from '../db/database.ts';
import { onDatabaseUp } from '../db/on-up.ts';
import type { PolicyMacClient, PolicyRows } from '../policy/rows.ts';
import type { ClientDirectory } from './client-directory.ts';
import { ClientDiscovery } from './client-discovery.ts';
import { ClientSightings } from './sighting-reader.ts';
import { askDevice, askInTurn, askThread, HostNames } from './host-names.ts';
import type { LeaseWatch } from './lease-watch.ts';
import type { ReadNeighbours } from '../../shared/net/kernel/neighbour-table.ts';

/** What discovery needs of the node. */
export interface ClientParts {
  readonly access: AccessInForce;
  readonly directory: ClientDirectory;
  /** What is in force, where keys may change. */
  readonly configuration: { current(): Config };
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memories: readonly WorkerMemory[];
  readonly neighbours: ReadNeighbours;
  readonly leases: LeaseWatch;
  /** Has a DNS thread answer a question of Weir's own, in wire form. */
  readonly askOwn: (message: Uint8Array) => Promise<Uint8Array | null>;
  readonly rows: () => PolicyRows;
  readonly ruleClients: () => readonly string[];
  readonly applyLive: () => Promise<void>;
}

/** Starts discovery; returns how to stop it. */
export function startClients(parts: ClientParts): () => Promise<void> {
  const { access, directory, configuration, database, clock, logger, memories } = parts;
  const sightings = new ClientSightings(memories);
  const hostNames = new HostNames({
    ask: askInTurn(askThread(parts.askOwn), askDevice()),
    clock,
    found: (address, hostname) => {
      const record = directory.at(address);
      if (record !== undefined) directory.nameHost(record, hostname);
    },
  });
  const discovery = new ClientDiscovery({
    directory,
    database,
    clock,
    logger,
    leases: parts.leases,
    hostNames,
    sweep: () => sightings.sweep(),
    neighbours: parts.neighbours,
    macClients: () => locatedByMac(parts.rows()),
    ruleClients: () => [...parts.ruleClients(), ...access.afterGrace().blockedMacs],
    applyLive: parts.applyLive,
    keepDays: () => configuration.current().database.query_log_days,
  });
  discovery.start();
  const stopFollowing = access.follow(parts.rows, parts.applyLive, (error) =>
    logger.warn('could not apply a change of who may ask', { reason: reasonOf(error) }),
  );
  const stopLoading = onDatabaseUp(database, logger, 'read clients', () => discovery.load());
  return async () => {
    stopFollowing();
    await stopLoading();
    hostNames.close();
    await discovery.stop();
  };
}

/** Clients whose addresses policy has by their MAC: for their group, or for a grant. */
function locatedByMac({ macClients, grants }: PolicyRows): readonly PolicyMacClient[] {
  const granted = grants.flatMap(({ id, mac }) => (mac === null ? [] : { mac, groupId: -id }));
  return granted.length === 0 ? macClients : [...macClients, ...granted];
}
