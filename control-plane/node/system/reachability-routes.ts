/** HTTP routes of `{api}/system/reachability`: reasons why devices in the network cannot use this node. */
import type { BlockFilterStats } from '../../../shared/api/stats-api.ts';
import { Reachability } from '../../../shared/api/system-api.ts';
import { clientAddress, isOnThisMachine } from '../../api/client-address.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ClientDirectory } from '../../clients/devices/client-directory.ts';
import { dnsReach } from './dns-port-help.ts';
import type { DnsPortParts } from './dns-port-help.ts';
import { isInContainer, lanAddresses } from './lan-addresses.ts';

/** Addresses from which programs on this machine send queries. */
const OWN: readonly string[] = ['127.0.0.1', '::1'];

/** The route of the report. */
export function reachabilityRoutes(context: {
  dnsListening: () => DnsPortParts;
  clients: Pick<ClientDirectory, 'partAt' | 'seenSince'>;
  filterStats: () => BlockFilterStats;
}): Route[] {
  const { clients, filterStats } = context;
  const row = route({
    method: 'GET',
    path: '/system/reachability',
    access: 'viewer',
    tag: 'System',
    summary:
      'Whether devices can reach this node: its addresses, the program that uses port 53, and the queries ' +
      'of the device that sends this request',
    answer: Reachability,
    handle: async ({ http }) => {
      const listening = context.dnsListening();
      const address = clientAddress(http);
      const lastSeenMs = clients.partAt(address)?.lastSeenMs ?? null;
      const { blocked_domains: names, wildcard_rules: wildcards, regex_rules: regexes } = filterStats();
      return {
        dns: await dnsReach(listening),
        is_container: isInContainer(),
        addresses: lanAddresses(listening.addresses),
        this_device: {
          address,
          is_server: isOnThisMachine(http),
          last_seen: lastSeenMs === null ? null : new Date(lastSeenMs).toISOString(),
        },
        devices: clients.seenSince(0).filter(({ address: one }) => !OWN.includes(one)).length,
        names_active: names + wildcards + regexes,
      };
    },
  });
  return [row];
}
