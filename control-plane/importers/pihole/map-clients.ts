/** Pi-hole's clients and groups as those of Weir. Pure. */
import { addressFromText } from '../../../shared/net/ip.ts';
import { networkContains, networkFromText } from '../../../shared/net/cidr.ts';
import { canonicalMac } from '../../../shared/net/mac.ts';
import { GroupSets } from '../plan/group-sets.ts';
import { DEFAULT_GROUP } from '../plan/import-plan.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeClient, PiholeSettings } from './pihole-settings.ts';

/** Id of the group that clients without an entry are in. */
const DEFAULT_ID = 0;

/** A client as Weir can know it. */
type Key =
  | { readonly kind: 'ip' | 'subnet' | 'mac'; readonly text: string }
  | { readonly kind: null; readonly reason: string };

/** Adds groups and clients; the result knows the groups of rules. */
export function mapClients(builder: PlanBuilder, settings: PiholeSettings): GroupSets<number> {
  const sets = new GroupSets<number>(builder, 'Unfiltered (Pi-hole)');
  mapGroups(builder, settings, sets);
  const known = settings.clients.map((client) => {
    const group = sets.groupOf(settings.clientLinks.get(client.id) ?? []);
    return { client, key: keyOf(client, settings), group };
  });
  for (const { client, key, group } of known) addClient(builder, client, key, group);
  reportOverlaps(builder, settings, known);
  return sets;
}

function mapGroups(builder: PlanBuilder, { groups }: PiholeSettings, sets: GroupSets<number>): void {
  for (const { id, name, enabled, comment } of groups) {
    if (id === DEFAULT_ID) {
      sets.add(id, DEFAULT_GROUP, true);
      if (enabled) builder.skipped('group', name, "it is Weir's group Default");
      else
        builder.notMapped('group', name, 'the default group is switched off; Weir cannot do that to Default');
      continue;
    }
    const item = builder.item('group', name);
    if (!enabled)
      builder.remark(item, 'it is switched off: its clients are in a group of what is left to them');
    sets.add(id, builder.group(name, { enabled, comment }, item), enabled);
  }
  if (groups.every(({ id }) => id !== DEFAULT_ID)) sets.add(DEFAULT_ID, DEFAULT_GROUP, true);
}

function keyOf({ ip }: PiholeClient, { devices }: PiholeSettings): Key {
  if (ip.startsWith(':')) return { kind: null, reason: 'Weir does not know clients by their interface' };
  if (ip.includes('/')) {
    if (networkFromText(ip) !== null) return { kind: 'subnet', text: ip };
    return { kind: null, reason: 'it is no network' };
  }
  if (!ip.includes('%') && addressFromText(ip) !== null) return { kind: 'ip', text: ip };
  const mac = canonicalMac(ip);
  if (mac !== null) return { kind: 'mac', text: mac };
  const named = devices.filter(({ name }) => name.toLowerCase() === ip.toLowerCase());
  const macs = new Set(named.flatMap((device) => canonicalMac(device.mac) ?? []));
  if (macs.size === 1) return { kind: 'mac', text: [...macs][0]! };
  const reason = macs.size === 0 ? 'has no device of this name' : 'has several devices of this name';
  return { kind: null, reason: `Weir knows clients by MAC or address, and the export ${reason}` };
}

function addClient(builder: PlanBuilder, { ip, comment }: PiholeClient, key: Key, group: string): void {
  if (key.kind === null) return builder.notMapped('client', ip, key.reason);
  if (key.kind === 'subnet') {
    const item = builder.item('subnet', ip);
    return builder.subnet({ cidr: key.text, group, comment }, item);
  }
  const item = builder.item('client', ip);
  if (key.kind === 'mac' && canonicalMac(ip) === null)
    builder.remark(item, `known by its MAC ${key.text} here`);
  const name = comment.trim() === '' ? null : comment;
  const place = key.kind === 'mac' ? { mac: key.text, ip: null } : { mac: null, ip: key.text };
  builder.client({ ...place, name, group }, item);
}

/** Pi-hole looks at the address first, Weir at the MAC. */
function reportOverlaps(
  builder: PlanBuilder,
  { devices }: PiholeSettings,
  known: readonly { client: PiholeClient; key: Key; group: string }[],
): void {
  for (const { client, key, group } of known) {
    if (key.kind !== 'mac') continue;
    const addresses = devices
      .filter(({ mac }) => canonicalMac(mac) === key.text)
      .map(({ address }) => address);
    const other = known.find(
      (rival) => rival.group !== group && addresses.some((at) => holds(rival.key, at)),
    );
    if (other === undefined) continue;
    const name = (text: string): string => (text === DEFAULT_GROUP ? 'Default' : text);
    const reason = `in Pi-hole its address puts it into ${name(other.group)} (${other.client.ip}); in Weir its MAC into ${name(group)}`;
    builder.notMapped('client', client.ip, reason);
  }
}

function holds(key: Key, address: string): boolean {
  const bytes = addressFromText(address);
  if (bytes === null || key.kind === null || key.kind === 'mac') return false;
  const network = networkFromText(key.text);
  return network !== null && networkContains(network, bytes);
}
