/** blocky's clients and groups of lists. All keys that name a client count together; clients without a key have `default`. Pure. */
import { type ClientPlace, addPlacedClient, holdsAddress, placeOf } from '../plan/client-place.ts';
import { networkContains, networkFromText } from '../../../../shared/net/cidr.ts';
import { GroupSets } from '../plan/group-sets.ts';
import { DEFAULT_GROUP } from '../plan/import-plan.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { fitsGlob } from './name-glob.ts';
import type { BlockyClients, BlockySettings } from './blocky-settings.ts';

/** Clients at one place in the network, and the keys that name it. */
interface Located {
  readonly place: ClientPlace;
  readonly name: string | null;
  readonly keys: BlockyClients[];
}

/** Adds clients; the result knows the groups in Weir of each group of lists. */
export function mapBlockyClients(builder: PlanBuilder, settings: BlockySettings): GroupSets<string> {
  const { clients, names, lists } = settings;
  const sets = new GroupSets<string>(builder, 'Unfiltered (blocky)');
  for (const { group } of lists) sets.label(group, group);
  const ofAll = clients.filter(({ key }) => key === 'default').flatMap(({ groups }) => groups);
  sets.assign(ofAll, DEFAULT_GROUP);
  const located = new Map<string, Located>();
  for (const client of clients) {
    if (client.key === 'default') continue;
    const places = placesOf(client.key, names);
    if (places.length === 0) {
      builder.notMapped(
        'client',
        client.key,
        'Weir knows clients by address, and the file has no address of this name',
      );
      continue;
    }
    for (const { place, name } of places) {
      const at = located.get(place.text) ?? { place, name, keys: [] };
      located.set(place.text, at);
      at.keys.push(client);
    }
  }
  for (const at of located.values()) addLocated(builder, sets, at, [...located.values()]);
  return sets;
}

/** An address or network as it is written; the addresses of names that fit. */
function placesOf(
  key: string,
  names: BlockySettings['names'],
): { readonly place: ClientPlace; readonly name: string | null }[] {
  const place = placeOf(key);
  if (place !== null && place.kind !== 'mac') return [{ place, name: null }];
  return [...names].flatMap(([name, addresses]) =>
    fitsGlob(key, name)
      ? addresses.flatMap((address) => {
          const found = placeOf(address);
          return found?.kind === 'ip' ? [{ place: found, name }] : [];
        })
      : [],
  );
}

/** A network within others, or an address within networks, has the groups of all of them. */
function addLocated(
  builder: PlanBuilder,
  sets: GroupSets<string>,
  { place, name, keys }: Located,
  all: readonly Located[],
): void {
  const around = all.filter((other) => other.place !== place && contains(other.place, place));
  const groups = [...keys, ...around.flatMap((other) => other.keys)].flatMap((key) => key.groups);
  const group = sets.groupOf(groups);
  addPlacedClient(
    builder,
    { shown: name === null ? place.text : `${name} (${place.text})`, place, group },
    { name },
  );
}

function contains(outer: ClientPlace, inner: ClientPlace): boolean {
  if (outer.kind !== 'subnet') return false;
  if (inner.kind === 'ip') return holdsAddress(outer, inner.text);
  const [a, b] = [networkFromText(outer.text), networkFromText(inner.text)];
  return a !== null && b !== null && a.prefixBits < b.prefixBits && networkContains(a, b.bytes);
}
