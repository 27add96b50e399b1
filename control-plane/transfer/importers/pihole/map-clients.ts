/** Maps Pi-hole's clients and groups to those of Weir. Pure. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import {
  addPlacedClient,
  type ClientPlace,
  type PlacedClient,
  placeOf,
  reportOverlaps,
} from '../plan/client-place.ts';
import { GroupSets } from '../plan/group-sets.ts';
import { DEFAULT_GROUP } from '../plan/import-plan.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeClient, PiholeSettings } from './pihole-settings.ts';

/** Id of the group of clients without an entry. */
const DEFAULT_ID = 0;

/** Adds groups and clients; the result assigns Pi-hole's groups to groups of Weir. */
export function mapClients(builder: PlanBuilder, settings: PiholeSettings): GroupSets<number> {
  const sets = new GroupSets<number>(builder, 'Unfiltered (Pi-hole)');
  mapGroups(builder, settings, sets);
  const placed: PlacedClient[] = [];
  for (const client of settings.clients) {
    const group = sets.groupOf(settings.clientLinks.get(client.id) ?? []);
    const place = placeIn(client, settings);
    if ('reason' in place) builder.notMapped('client', client.ip, place.reason);
    else placed.push(addClient(builder, client, place, group));
  }
  reportOverlaps(builder, 'Pi-hole', placed, settings.devices);
  return sets;
}

function mapGroups(builder: PlanBuilder, { groups }: PiholeSettings, sets: GroupSets<number>): void {
  for (const { id, name, enabled, comment } of groups) {
    if (id === DEFAULT_ID) {
      sets.add(id, DEFAULT_GROUP, true);
      if (enabled) builder.skipped('group', name, importReason('default_group'));
      else builder.notMapped('group', name, importReason('pihole_default_disabled'));
      continue;
    }
    const item = builder.item('group', name);
    if (!enabled) builder.remark(item, importReason('pihole_group_disabled'));
    sets.add(id, builder.group(name, { enabled, comment }, item), enabled);
  }
  if (groups.every(({ id }) => id !== DEFAULT_ID)) sets.add(DEFAULT_ID, DEFAULT_GROUP, true);
}

function placeIn(
  { ip }: PiholeClient,
  { devices }: PiholeSettings,
): ClientPlace | { readonly reason: ImportReason } {
  if (ip.startsWith(':')) return { reason: importReason('pihole_interface') };
  const place = placeOf(ip);
  if (place !== null) return place;
  if (ip.includes('/')) return { reason: importReason('not_a_network') };
  const named = devices.filter(({ name }) => name.toLowerCase() === ip.toLowerCase());
  const macs = new Set(named.flatMap((device) => canonicalMac(device.mac) ?? []));
  if (macs.size === 1) return { kind: 'mac', text: [...macs][0]! };
  return { reason: importReason(macs.size === 0 ? 'pihole_no_device' : 'pihole_several_devices') };
}

function addClient(
  builder: PlanBuilder,
  { ip, comment }: PiholeClient,
  place: ClientPlace,
  group: string,
): PlacedClient {
  const client = { shown: ip, place, group };
  const isByName = place.kind === 'mac' && canonicalMac(ip) === null;
  const remark = isByName ? importReason('pihole_by_mac', { mac: place.text }) : null;
  addPlacedClient(builder, client, { name: comment.trim() === '' ? null : comment, remark });
  return client;
}
