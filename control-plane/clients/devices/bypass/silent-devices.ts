/** Finds devices in the network that do not query this node, from the neighbour table and DHCP leases. Pure. */
import type { SilentDevice } from '../../../../shared/api/policy/clients-api.ts';
import type { ClientDirectory } from '../client-directory.ts';
import { interfaceOf, momentText } from '../client-view.ts';
import type { Lease } from '../lease-file.ts';
import type { Neighbour } from '../../../../shared/net/kernel/neighbour-messages.ts';

/** Devices in the network that are known from other sources than queries. */
export interface NetworkSights {
  readonly neighbours: readonly Neighbour[];
  readonly leases: readonly Lease[];
}

/** Devices without a query since `sinceMs`, the most recent query first; devices that never sent a query are last. */
export function silentDevices(
  { neighbours, leases }: NetworkSights,
  clients: Pick<ClientDirectory, 'partAt' | 'partsOf'>,
  sinceMs: number,
): SilentDevice[] {
  const places = [
    ...leases.map((lease) => ({ ...lease, seenIn: 'leases' as const })),
    ...neighbours.map((neighbour) => ({ ...neighbour, hostname: null, seenIn: 'neighbours' as const })),
  ];
  const found: { device: SilentDevice; lastSeenMs: number }[] = [];
  for (const ofDevice of Map.groupBy(places, ({ mac, address }) => mac ?? address).values()) {
    const records = ofDevice.flatMap(({ address }) => clients.partAt(address) ?? []);
    const lastSeenMs = Math.max(0, ...records.map((record) => record.lastSeenMs ?? 0));
    if (lastSeenMs >= sinceMs) continue;
    const [part] = records;
    const record = part === undefined ? undefined : clients.partsOf(part)[0];
    const leased = ofDevice.find(({ hostname }) => hostname !== null)?.hostname;
    const device: SilentDevice = {
      ip_addresses: [...new Set(ofDevice.map(({ address }) => address))],
      mac_address: ofDevice[0]!.mac,
      ...interfaceOf(ofDevice[0]!.mac),
      hostname: leased ?? part?.hostname ?? null,
      name: record?.name ?? null,
      client_id: record?.id ?? null,
      last_seen: momentText(lastSeenMs === 0 ? null : lastSeenMs),
      seen_in: [...new Set(ofDevice.map(({ seenIn }) => seenIn))],
    };
    found.push({ device, lastSeenMs });
  }
  return found.sort((a, b) => b.lastSeenMs - a.lastSeenMs).map(({ device }) => device);
}
