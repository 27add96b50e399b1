/**
 * AdGuard Home's clients, services and safe search. AdGuard Home has no groups: clients with the same individual
 * settings become one group. Pure.
 */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { canonicalClientKey } from '../../../../shared/dns/client-key.ts';
import {
  type ClientPlace,
  type PlacedClient,
  addPlacedClient,
  placeOf,
  reportOverlaps,
} from '../plan/client-place.ts';
import { DEFAULT_GROUP } from '../plan/import-plan.ts';
import type { SafeSearchEngineData } from '../../../../shared/api/policy/safe-search-api.ts';
import { SAFE_SEARCH_ENGINES } from '../../../../shared/api/policy/safe-search-api.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { AdguardClient, AdguardPolicy, AdguardSchedule, AdguardSettings } from './adguard-settings.ts';
import { blockedSlots, zoneOf } from './service-times.ts';

/** Services with different ids in AdGuard Home and Weir's own catalog. */
const OWN_SERVICE_IDS: Readonly<Record<string, string>> = {
  amazon_streaming: 'primevideo',
  apple_streaming: 'apple-tvplus',
  max: 'hbomax',
  ok: 'odnoklassniki',
  peacock_tv: 'peacock',
  plenty_of_fish: 'plenty-of-fish',
  pluto_tv: 'plutotv',
  rakuten_viki: 'rakuten-viki',
  samsung_tv_plus: 'samsung-tv-plus',
  x: 'twitter',
};

/** Adds the clients; returns the groups to which lists and rules apply: null = every group, empty = no client. */
export function mapAdguardClients(builder: PlanBuilder, settings: AdguardSettings): readonly string[] | null {
  const { everyone, clients, leases } = settings;
  const groups = new PolicyGroups(builder, everyone);
  const placed: PlacedClient[] = [];
  for (const client of clients) placed.push(...mapClient(builder, client, groups));
  for (const { mac, name } of leases) {
    const place = placeOf(mac);
    if (place?.kind !== 'mac' || name === '') continue;
    builder.client(
      { mac: place.text, ip: null, key: null, name, group: null },
      builder.item('client', itemName('lease', { name })),
    );
  }
  reportOverlaps(builder, 'AdGuard Home', placed, leases);
  return groups.addPolicies();
}

/** Identifier of a client; a ClientID becomes a client key. */
export function adguardPlaceOf(id: string): ClientPlace | null {
  const key = canonicalClientKey(id);
  return placeOf(id) ?? (key === null ? null : { kind: 'key', text: key });
}

function mapClient(builder: PlanBuilder, client: AdguardClient, groups: PolicyGroups): PlacedClient[] {
  const { name, ids, policy, tags, others } = client;
  const group = groups.groupOf(policy, name);
  if (others.length > 0)
    builder.notMapped(
      'other',
      name,
      importReason('adguard_client_settings', { settings: others.join(', ') }),
    );
  if (tags.length > 0)
    builder.skipped('other', itemName('group_tags', { group: name }), importReason('adguard_tags'));
  return ids.flatMap((id) => {
    const place = adguardPlaceOf(id);
    if (place === null) {
      builder.notMapped('client', `${name}: ${id}`, importReason('adguard_not_client_or_mac'));
      return [];
    }
    const placed = { shown: ids.length === 1 ? name : `${name}: ${id}`, place, group };
    addPlacedClient(builder, placed, {
      name,
      excludeFromLog: client.isUnlogged,
      excludeFromStats: client.isUncounted,
    });
    return [placed];
  });
}

/** A group for each distinct policy; clients without individual settings belong to Default. */
class PolicyGroups {
  private readonly builder: PlanBuilder;
  private readonly byPolicy = new Map<string, { readonly name: string; readonly policy: AdguardPolicy }>();
  /** Names of schedule profiles by their content. */
  private readonly profiles = new Map<string, string | null>();

  constructor(builder: PlanBuilder, everyone: AdguardPolicy) {
    this.builder = builder;
    this.byPolicy.set(JSON.stringify(everyone), { name: DEFAULT_GROUP, policy: everyone });
  }

  /** The group of a client; created with the name of its first client. */
  groupOf(policy: AdguardPolicy, clientName: string): string {
    const key = JSON.stringify(policy);
    const before = this.byPolicy.get(key);
    if (before !== undefined) return before.name;
    const title = `AdGuard Home: ${clientName}`;
    const comment = importReason('adguard_group');
    const name = this.builder.group(
      title,
      { enabled: true, comment },
      this.builder.item('group', title, comment),
    );
    this.byPolicy.set(key, { name, policy });
    return name;
  }

  /** Adds the settings of each group; returns the groups that are filtered, or null if all are. */
  addPolicies(): readonly string[] | null {
    const groups = [...this.byPolicy.values()];
    for (const { name: group, policy } of groups) {
      for (const engine of policy.safeSearch) this.addEngine(engine, group);
      const profile = policy.schedule === null ? null : this.profileOf(policy.schedule, group);
      for (const serviceId of policy.services) {
        const item = this.builder.item('service', shownFor(serviceId, group));
        this.builder.service({ serviceId, ownId: ownServiceId(serviceId), group, profile }, item);
      }
    }
    const filtered = groups.filter(({ policy }) => policy.isFiltered);
    return filtered.length === groups.length ? null : filtered.map(({ name }) => name);
  }

  /** The schedule profile with these times; created with the name of the first group. */
  private profileOf(schedule: AdguardSchedule, group: string): string | null {
    const key = JSON.stringify(schedule);
    const before = this.profiles.get(key);
    if (before !== undefined) return before;
    const name = group === DEFAULT_GROUP ? 'AdGuard Home: services' : `${group} (services)`;
    const item = this.builder.item('service', shownFor('schedule of blocked services', group));
    const { timeZone, remark } = zoneOf(schedule.timeZone);
    if (remark !== null) this.builder.remark(item, remark);
    const profile = this.builder.times({ name, timeZone, slots: blockedSlots(schedule) }, item);
    this.profiles.set(key, profile);
    return profile;
  }

  private addEngine(id: string, group: string): void {
    const engine = SAFE_SEARCH_ENGINES.find((one): one is SafeSearchEngineData['id'] => one === id);
    if (engine === undefined) return;
    const item = this.builder.item('safe_search', shownFor(id, group));
    this.builder.safe({ group, engine, youtubeMode: 'moderate' }, item);
  }
}

function shownFor(id: string, group: string): string {
  return group === DEFAULT_GROUP ? id : `${id} (${group})`;
}

/** The id in Weir's own catalog; null if it is the same as in AdGuard Home. */
function ownServiceId(id: string): string | null {
  if (Object.hasOwn(OWN_SERVICE_IDS, id)) return OWN_SERVICE_IDS[id]!;
  return id.includes('_') ? id.replaceAll('_', '-') : null;
}
