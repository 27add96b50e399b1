/** Sets up and starts client discovery. */
import { reasonOf } from '../../../shared/errors.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { WorkerMemory } from '../../../shared/threads/messages.ts';
import type { ChangeFollower } from '../../storage/cluster/change-follower.ts';
import type { Database } from '../../storage/db/database.ts';
import { onDatabaseUp } from '../../storage/db/on-up.ts';
import type { PolicyMacClient, PolicyRows } from '../../policy/change/rows.ts';
import { clientNamesOf } from '../../policy/compile/table/compiled-rules.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';
import type { ClientDirectory } from './client-directory.ts';
import { excludedMacs } from './excluded-clients.ts';
import { ClientDiscovery } from './client-discovery.ts';
import { ClientSightings } from './sighting-reader.ts';
import { askDevice, askInTurn, askThread, HostNames } from './host-names.ts';
import type { LeaseWatch } from './lease-watch.ts';
import type { ReadNeighbours } from '../../../shared/net/kernel/neighbour-table.ts';

/** Parts of the node that discovery needs. */
export interface ClientParts {
  /** Access of clients: the blocked MACs, and a function that follows the networks of this machine. */
  readonly access: {
    afterGrace(): { readonly blockedMacs: readonly string[] };
    follow(rows: () => PolicyRows, apply: () => Promise<void>, failed: (error: unknown) => void): () => void;
  };
  readonly clients: ClientDirectory;
  readonly follower: Pick<ChangeFollower, 'onChange'>;
  /** The active configuration, which may change. */
  readonly configuration: { current(): Config };
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly supervisor: {
    memories(): readonly WorkerMemory[];
    /** Sends a query of Weir itself to a DNS thread, in wire format. */
    readonly requests: { askOwn(message: Uint8Array): Promise<Uint8Array | null> };
  };
  readonly neighbours: ReadNeighbours;
  readonly leases: LeaseWatch;
  readonly publisher: { current(): Pick<PublishedState, 'rows' | 'compiled'> };
  readonly activePolicy: { applyLive(): Promise<void> };
}

/** Starts discovery; returns a function that stops it. */
export function startClients(parts: ClientParts): () => Promise<void> {
  const { access, clients: directory, configuration, database, clock, logger, supervisor } = parts;
  const rows = (): PolicyRows => parts.publisher.current().rows;
  const applyLive = (): Promise<void> => parts.activePolicy.applyLive();
  const sightings = new ClientSightings(supervisor.memories());
  const hostNames = new HostNames({
    ask: askInTurn(
      askThread((message) => supervisor.requests.askOwn(message)),
      askDevice(),
    ),
    clock,
    found: (address, hostname) => {
      const record = directory.partAt(address);
      if (record !== undefined) directory.nameHost(record, hostname);
    },
  });
  const discovery = new ClientDiscovery({
    ...parts,
    directory,
    hostNames,
    sweep: () => sightings.sweep(),
    macClients: () => locatedByMac(rows()),
    ruleClients: () => [
      ...clientNamesOf(parts.publisher.current().compiled),
      ...access.afterGrace().blockedMacs,
    ],
    applyLive,
    keepDays: () => configuration.current().database.query_log_days,
  });
  discovery.start();
  const stopFollowing = access.follow(rows, applyLive, (error) =>
    logger.warn('could not apply a change to the allowed clients', { reason: reasonOf(error) }),
  );
  const stopSettings = parts.follower.onChange('client_settings', () => discovery.followSettings());
  const stopLoading = onDatabaseUp(database, logger, 'read clients', () => discovery.load());
  return async () => {
    stopFollowing();
    await stopSettings();
    await stopLoading();
    hostNames.close();
    await discovery.stop();
  };
}

/** Clients of which policy needs the addresses of their MAC: because of their group, a grant, or an exclusion. */
function locatedByMac({ macClients, grants, excludedClients }: PolicyRows): readonly PolicyMacClient[] {
  const granted = grants.flatMap(({ id, mac }) => (mac === null ? [] : { mac, groupId: -id }));
  return [...macClients, ...granted, ...excludedMacs(excludedClients)];
}
