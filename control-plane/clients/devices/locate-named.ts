/** Finds the addresses of clients that rules identify by MAC or by name. */
import { canonicalMac, macIdentity } from '../../../shared/net/mac.ts';
import type { LocatedClient } from '../../policy/change/runtime-state.ts';
import type { ClientRecord } from './client-record.ts';
import type { NeighbourMap } from './neighbour-map.ts';

/** Collects addresses by name, for the requested names. */
class Locations {
  private readonly byName = new Map<string, Set<string>>();
  private readonly wanted: ReadonlySet<string>;
  private readonly neighbours: NeighbourMap;

  constructor(wanted: ReadonlySet<string>, neighbours: NeighbourMap) {
    this.wanted = wanted;
    this.neighbours = neighbours;
  }

  add(written: string, { mac, ip }: ClientRecord): void {
    const name = written.toLowerCase();
    if (!this.wanted.has(name)) return;
    const addresses = this.byName.get(name) ?? new Set();
    this.byName.set(name, addresses);
    if (mac !== null) for (const address of addressesOf(mac, this.neighbours)) addresses.add(address);
    else if (ip !== null) addresses.add(ip);
  }

  of(name: string): ReadonlySet<string> | undefined {
    return this.byName.get(name);
  }
}

/**
 * The addresses of the clients with these MACs and names, in lower case. A name that a user gave takes precedence over
 * host names, which devices choose themselves. A host name matches as a whole or by its first label.
 */
export function locateNamed(
  names: readonly string[],
  records: Iterable<ClientRecord>,
  neighbours: NeighbourMap,
): LocatedClient[] {
  const wanted = new Set(names);
  const given = new Locations(wanted, neighbours);
  const hostNames = new Locations(wanted, neighbours);
  for (const record of records) {
    if (record.name !== null) given.add(record.name, record);
    if (record.hostname === null) continue;
    hostNames.add(record.hostname, record);
    const [label = ''] = record.hostname.split('.', 1);
    if (label !== record.hostname) hostNames.add(label, record);
  }
  return names.map((name) => {
    const addresses = given.of(name) ?? hostNames.of(name) ?? addressesOf(canonicalMac(name), neighbours);
    return { name, addresses: [...addresses] };
  });
}

/** The known addresses of a MAC, and the identity that policy uses for it at all other addresses (`macIdentity`). */
function addressesOf(mac: string | null, neighbours: NeighbourMap): readonly string[] {
  return mac === null ? [] : [macIdentity(mac), ...neighbours.addressesOf(mac)];
}
