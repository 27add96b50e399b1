/**
 * blocky's clients and groups of lists. All keys that match a client apply together; `default` applies to clients that
 * no key matches. Pure.
 */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { type ClientPlace, addPlacedClient, holdsAddress, placeOf } from '../plan/client-place.ts';
import { networkContains, networkFromText } from '../../../../shared/net/cidr.ts';
import { GroupSets } from '../plan/group-sets.ts';
import { DEFAULT_GROUP } from '../plan/import-plan.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { fitsGlob } from './name-glob.ts';
import { type BlockyRecords, localNamesOf } from './blocky-records.ts';
import type { BlockyClients, BlockySettings } from './blocky-settings.ts';

/** Clients at one location in the network, and the keys that match it. */
interface Located {
  readonly place: ClientPlace;
  readonly name: string | null;
  readonly keys: BlockyClients[];
}

/** A key that matches every client, with or without a name. */
const EVERYONE = '*';

/** Adds clients; the result maps groups of lists to groups in Weir. */
export function mapBlockyClients(
  builder: PlanBuilder,
  settings: BlockySettings,
  records: BlockyRecords,
): GroupSets<string> {
  const { clients, lists, file } = settings;
  const sets = new GroupSets<string>(builder, 'Unfiltered (blocky)');
  for (const { group } of lists) sets.label(group, group);
  const groupsOf = (wanted: string): string[] =>
    clients.filter(({ key }) => key === wanted).flatMap(({ groups }) => groups);
  const ofEveryone = groupsOf(EVERYONE);
  const byDefault = ofEveryone.length > 0 ? ofEveryone : groupsOf('default');
  sets.assign(byDefault, DEFAULT_GROUP);
  const namesOf = new ClientNames(settings, records);
  const asksServer = file.has('clientLookup.upstream');
  const located = new Map<string, Located>();
  for (const client of clients) {
    if (client.key === 'default' || client.key === EVERYONE) continue;
    const places = namesOf.placesOf(client.key);
    reportUnknown(builder, client.key, places.length > 0, asksServer);
    for (const { place, name } of places) {
      const at = located.get(place.text) ?? { place, name, keys: [] };
      located.set(place.text, at);
      at.keys.push(client);
    }
  }
  for (const at of located.values()) {
    const around = [...located.values()].filter((other) => other !== at && contains(other.place, at.place));
    const groups = [at, ...around].flatMap(({ keys }) => keys).flatMap((key) => key.groups);
    // Keys without a group keep the default, like clients without a key.
    const group = sets.groupOf(groups.length === 0 ? byDefault : [...groups, ...ofEveryone]);
    const shown = at.name === null ? at.place.text : `${at.name} (${at.place.text})`;
    addPlacedClient(builder, { shown, place: at.place, group }, { name: at.name });
  }
  for (const [name, addresses] of settings.names)
    for (const address of addresses) {
      const place = placeOf(address);
      if (place?.kind !== 'ip')
        builder.notMapped('client', `${name} ${address}`, importReason('not_an_address'));
      else if (!located.has(place.text)) addNamed(builder, name, place.text);
    }
  return sets;
}

/** A client that no key matches only has a name. */
function addNamed(builder: PlanBuilder, name: string, ip: string): void {
  const item = builder.item('client', `${name} (${ip})`, importReason('only_name'));
  builder.client({ mac: null, ip, key: null, name, group: null }, item);
}

/** A key that is a name applies to clients whose name is only known once they send a query. */
function reportUnknown(builder: PlanBuilder, key: string, isKnown: boolean, asksServer: boolean): void {
  if (!isKnown) builder.notMapped('client', key, importReason('blocky_client_by_name'));
  else if (asksServer && placeOf(key) === null)
    builder.differs('client', key, importReason('blocky_client_lookup'), []);
}

/** Finds clients by the names of their addresses in the file. */
class ClientNames {
  private readonly addresses: ReadonlyMap<string, readonly string[]>;

  /** Local records give a name to an address only if the client lookup does not. */
  constructor({ names }: BlockySettings, records: BlockyRecords) {
    const known = new Set([...names.values()].flat());
    const others = [...localNamesOf(records)].map(
      ([name, addresses]) => [name, addresses.filter((address) => !known.has(address))] as const,
    );
    const all = new Map<string, readonly string[]>(names);
    for (const [name, addresses] of others) all.set(name, [...(all.get(name) ?? []), ...addresses]);
    this.addresses = all;
  }

  /** The place for a key: the address or network in the key, or the addresses of all names that the key matches. */
  placesOf(key: string): { readonly place: ClientPlace; readonly name: string | null }[] {
    const place = placeOf(key) ?? networkOfGlob(key);
    if (place !== null && place.kind !== 'mac') return [{ place, name: null }];
    return [...this.addresses].flatMap(([name, addresses]) =>
      fitsGlob(key, name)
        ? addresses.flatMap((address) => {
            const found = placeOf(address);
            return found?.kind === 'ip' ? [{ place: found, name }] : [];
          })
        : [],
    );
  }
}

/** `192.0.2.*`: blocky identifies a client without a name by its address, so such a pattern stands for a network. */
function networkOfGlob(key: string): ClientPlace | null {
  const octets = /^((?:\d{1,3}\.){1,3})\*$/.exec(key)?.[1]?.split('.').slice(0, -1);
  if (octets === undefined) return null;
  const text = `${[...octets, '0', '0', '0'].slice(0, 4).join('.')}/${octets.length * 8}`;
  return placeOf(text);
}

function contains(outer: ClientPlace, inner: ClientPlace): boolean {
  if (outer.kind !== 'subnet') return false;
  if (inner.kind === 'ip') return holdsAddress(outer, inner.text);
  const [a, b] = [networkFromText(outer.text), networkFromText(inner.text)];
  return a !== null && b !== null && a.prefixBits < b.prefixBits && networkContains(a, b.bytes);
}
