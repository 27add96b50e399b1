/** HTTP routes of `{api}/clients/refused` and `{api}/clients/allowed`: refused clients, and a way to allow them. */
import { AllowedClients, AllowNetworksBody, RefusedClients } from '../../../shared/api/policy/access-api.ts';
import type { AnnouncedNetwork, RefusedNetwork } from '../../../shared/api/policy/access-api.ts';
import { networkContains, networkFromText } from '../../../shared/net/cidr.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import type { Configuration } from '../../policy/settings/configuration.ts';
import type { AccessReports, Announcement, RefusedNetworkReport } from './access-reports.ts';
import type { AccessState } from './access-state.ts';
import { accessNetwork } from './access-network.ts';

type Clients = Pick<ClientDirectory, 'nameAt'>;

interface Reports {
  readonly reports: Pick<AccessReports, 'announcement' | 'refused'>;
  readonly state: Pick<AccessState, 'now'>;
}

export function accessRoutes(context: {
  configuration: Pick<Configuration, 'current' | 'addEntries'>;
  policy: PolicyChanges;
  clients: Clients;
  nodeAccess: Reports;
}): Route[] {
  return [
    readRefused(context.configuration, context.clients, context.nodeAccess),
    allowNetworks(context.configuration, context.policy),
  ];
}

function readRefused(
  configuration: Pick<Configuration, 'current'>,
  clients: Clients,
  nodeAccess: Reports,
): Route {
  return route({
    method: 'GET',
    path: '/clients/refused',
    access: 'viewer',
    tag: 'Clients',
    summary: 'Networks whose clients were refused, and recent clients that a pending change will refuse',
    answer: RefusedClients,
    handle: () => {
      const { allowed_clients: allowed, blocked_clients: blocked } = configuration.current().dns;
      const { warnings, onlyAddress } = nodeAccess.state.now();
      const announcement = nodeAccess.reports.announcement();
      return {
        allowed_clients: [...allowed],
        warnings: [...warnings],
        only_address: onlyAddress,
        announced:
          announcement === null
            ? null
            : {
                until: new Date(announcement.untilMs).toISOString(),
                networks: announcedNetworks(announcement, clients),
              },
        refused: nodeAccess.reports.refused().map((report) => toApiRefused(report, blocked)),
      };
    },
  });
}

function allowNetworks(
  configuration: Pick<Configuration, 'current' | 'addEntries'>,
  policy: PolicyChanges,
): Route {
  return route({
    method: 'POST',
    path: '/clients/allowed',
    access: 'admin',
    tag: 'Clients',
    summary: 'Allow the clients of networks, by adding the networks to `dns.allowed_clients`',
    body: AllowNetworksBody,
    answer: AllowedClients,
    errors: {
      409: 'an environment variable of this node sets the key, or its configuration file cannot be changed',
    },
    handle: async (request) => {
      const { networks } = request.body;
      await configuration.addEntries(policy, authorOf(request), 'dns.allowed_clients', networks);
      return { allowed_clients: [...configuration.current().dns.allowed_clients] };
    },
  });
}

function toApiRefused(
  { network, lastClient, firstMs, lastMs, count }: RefusedNetworkReport,
  blocked: readonly string[],
): RefusedNetwork {
  return {
    network,
    last_client: lastClient,
    first_refused: new Date(firstMs).toISOString(),
    last_refused: new Date(lastMs).toISOString(),
    count,
    is_blocked: isIn(blocked, lastClient),
  };
}

/** Whether an address is in a network of a list; entries that are not networks are ignored. */
function isIn(list: readonly string[], address: string): boolean {
  const bytes = addressFromText(address);
  if (bytes === null) return false;
  return list.some((entry) => {
    const network = networkFromText(entry);
    return network !== null && networkContains(network, bytes);
  });
}

function announcedNetworks({ clients: announced }: Announcement, clients: Clients): AnnouncedNetwork[] {
  const groups = Map.groupBy(announced, ({ address }) => accessNetwork(address));
  const networks = [...groups].map(([network, members]) => {
    const last = members.reduce((a, b) => (b.lastSeenMs > a.lastSeenMs ? b : a));
    return {
      network,
      clients: members.length,
      last_client: last.address,
      name: clients.nameAt(last.address),
      last_seen: new Date(last.lastSeenMs).toISOString(),
    };
  });
  return networks.sort((a, b) => b.last_seen.localeCompare(a.last_seen));
}
