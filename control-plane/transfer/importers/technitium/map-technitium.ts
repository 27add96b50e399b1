/**
 * Maps the settings of a Technitium DNS Server to a plan; each allowed or blocked name also covers its subdomains.
 * Pure.
 */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { PlannedPools } from '../plan/planned-pools.ts';
import { isLocalType, readZone, type ZoneRecord } from '../plan/zone-records.ts';
import { mapAdvancedBlocking } from './advanced-blocking.ts';
import { mapTechnitiumSettings, readForwarder } from './settings-answer.ts';
import type { TechnitiumSettings, TechnitiumZone } from './technitium-settings.ts';

/** Zones that exist on every Technitium DNS Server. */
const OWN_ZONES = /^(?:localhost|(?:0|127|255)\.in-addr\.arpa|(?:1|0)(?:\.0){31}\.ip6\.arpa)$/;
const WORDS = { noGroup: importReason('technitium_no_client'), noText: importReason('not_a_url') };

/** Maps all settings. */
export function mapTechnitium(settings: TechnitiumSettings): ImportPlan {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'Technitium: names', 'technitium-names');
  const names = new OwnNames(builder, lists);
  for (const { url, kind, enabled } of settings.lists)
    addForeignList(builder, { kind, place: url, enabled, subdomains: true, groups: null }, WORDS);
  for (const name of settings.allowed) names.add({ name: `*.${name}`, action: 'allow', groups: null });
  for (const name of settings.blocked) names.add({ name: `*.${name}`, action: 'deny', groups: null });
  if (settings.advancedBlocking !== null) mapAdvancedBlocking(builder, names, settings.advancedBlocking);
  names.finish();
  if (settings.refreshHours !== null && settings.refreshHours > 0)
    builder.key('blocking.list_refresh_hours', Math.min(settings.refreshHours, 8760), 'blocklist.config');
  const pools = new PlannedPools(builder, readForwarder);
  for (const zone of settings.zones) mapZone({ builder, pools, lists }, zone);
  lists.finish();
  if (settings.settings !== null) mapTechnitiumSettings(builder, pools, settings.settings);
  else if (settings.hasBinarySettings)
    builder.notMapped('other', 'dns.config', importReason('technitium_add_settings'));
  for (const app of settings.apps)
    builder.notMapped('other', itemName('app', { app }), importReason('technitium_apps'));
  return builder.finish('technitium');
}

interface ZoneParts {
  readonly builder: PlanBuilder;
  readonly pools: PlannedPools;
  readonly lists: GeneratedLists;
}

function mapZone(parts: ZoneParts, { name, text }: TechnitiumZone): void {
  const { builder, pools } = parts;
  if (OWN_ZONES.test(name))
    return builder.skipped('other', itemName('zone', { name }), importReason('technitium_zone_itself'));
  if (text === null)
    return builder.notMapped('other', itemName('zone', { name }), importReason('technitium_binary_zone'));
  const { records, faults } = readZone(text, name);
  for (const record of records) mapRecord(builder, pools, record);
  if (records.some(({ type }) => type === 'SOA')) keepWithin(parts, name, records);
  for (const fault of faults)
    builder.notMapped('local_record', fault, importReason('technitium_zone_line', { zone: name }));
}

/** A name in a zone is never forwarded, except below a forwarder. */
function keepWithin({ builder, lists }: ZoneParts, zone: string, records: readonly ZoneRecord[]): void {
  const forwards = records.filter(({ type }) => type === 'FWD');
  if (forwards.some(({ owner }) => owner === zone)) return;
  const usual = forwards.filter(({ value }) => value.includes('this-server')).map(({ owner }) => owner);
  if (usual.length === 0) {
    const item = builder.item(
      'forward_zone',
      itemName('zone', { name: zone }),
      importReason('answered_by_weir'),
    );
    return builder.zone({ zone, servers: [], enabled: true }, item);
  }
  // A zone without servers cannot exempt names that the pools answer, so a list rule is added instead.
  const others = new Set(forwards.map(({ owner }) => owner));
  const item = builder.item(
    'list_rule',
    itemName('zone', { name: zone }),
    importReason('technitium_nxdomain'),
  );
  lists.add(`||${zone}^$dnsrewrite=NXDOMAIN,denyallow=${[...others].join('|')}`, null, item);
}

function mapRecord(
  builder: PlanBuilder,
  pools: PlannedPools,
  { owner, type, value, ttlSecs }: ZoneRecord,
): void {
  const shown = `${owner} ${type} ${value}`;
  if (type === 'SOA' || type === 'NS')
    return builder.skipped('local_record', shown, importReason('technitium_unneeded'));
  if (type === 'FWD') {
    const [protocol = '', forwarder = ''] = value.replaceAll('"', '').split(' ');
    if (forwarder === 'this-server')
      return builder.notMapped('forward_zone', shown, importReason('technitium_exceptions'));
    const servers = pools.servers([`${protocol} ${forwarder}`]);
    if (servers.length > 0)
      builder.zone({ zone: owner, servers, enabled: true }, builder.item('forward_zone', shown));
    return;
  }
  const item = builder.item('local_record', shown);
  if (!isLocalType(type)) builder.refuse(item, importReason('no_record_type', { type }));
  else builder.record({ name: owner, type, value, ...(ttlSecs === undefined ? {} : { ttlSecs }) }, item);
}
