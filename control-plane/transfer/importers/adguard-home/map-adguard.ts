/** Maps the settings of AdGuard Home to a plan of Weir's entities. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { decodeText } from '../files/decode-text.ts';
import { placeOf } from '../plan/client-place.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { adguardPlaceOf, mapAdguardClients } from './adguard-clients.ts';
import { mapAdguardDns } from './adguard-dns.ts';
import { mapAdguardAccess, mapBlockedHosts } from './adguard-access.ts';
import { mapAdguardKeys } from './adguard-keys.ts';
import { reportUnmapped } from './adguard-unmapped.ts';
import { mapAdguardLog } from './adguard-log.ts';
import { reportAnswers } from './answer-differences.ts';
import { mapRewrites } from './rewrites.ts';
import type { AdguardFilter, AdguardSettings } from './adguard-settings.ts';
import { mapUserRules } from './rules/user-rules.ts';

/** The newest known schema. */
const NEWEST_SCHEMA = 34;

/** Maps all settings. */
export function mapAdguard(settings: AdguardSettings): ImportPlan {
  const builder = new PlanBuilder();
  if (settings.schema > NEWEST_SCHEMA)
    builder.notMapped(
      'other',
      `schema ${settings.schema}`,
      importReason('adguard_newer_schema', { newest: NEWEST_SCHEMA }),
    );
  const groups = mapAdguardClients(builder, settings);
  for (const filter of settings.filters) mapFilter(builder, filter, groups);
  const lists = new GeneratedLists(builder, 'AdGuard Home: own rules', 'adguard-home-rules');
  mapUserRules(
    { builder, lists, groups, addressesOf: addressesOf(settings), namesOf: namesOf(settings) },
    settings.rules,
  );
  lists.finish();
  mapBogus(builder, settings.dns);
  mapRewrites(builder, settings, groups);
  mapAdguardDns(builder, settings);
  mapAdguardAccess(builder, settings.dns);
  mapBlockedHosts(builder, settings.dns);
  mapAdguardKeys(builder, settings);
  mapAdguardLog(builder, settings);
  if (settings.dns.flag('aaaa_disabled') === true)
    builder.withoutIpv6(builder.item('setting', 'dns.aaaa_disabled', importReason('adguard_no_ipv6')));
  reportRanks(builder, settings);
  if (groups?.length !== 0) reportAnswers(builder, settings);
  reportUnmapped(builder, settings);
  return builder.finish('adguard_home');
}

function mapFilter(
  builder: PlanBuilder,
  { kind, url, name, enabled, copy, id }: AdguardFilter,
  groups: readonly string[] | null,
): void {
  const text = copy === null || /^https?:/i.test(url) ? undefined : decodeText(copy);
  const list = { kind, place: url, name, enabled, groups, text, fileName: `adguard-home-filter-${id}` };
  addForeignList(builder, list, {
    noGroup: importReason('adguard_filters_nobody'),
    noText: importReason('adguard_local_list', { id }),
  });
}

/** Addresses, networks, MACs and keys of each client that `$client` may name. */
function addressesOf({ clients }: AdguardSettings): ReadonlyMap<string, readonly string[]> {
  return new Map(
    clients.map(({ name, ids }) => [name, ids.flatMap((id) => adguardPlaceOf(id)?.text ?? [])] as const),
  );
}

/** Names of clients by tag. */
function namesOf({ clients }: AdguardSettings): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { name, tags } of clients)
    for (const tag of tags) names.set(tag, [...(names.get(tag) ?? []), name]);
  return names;
}

/** AdGuard Home answers NXDOMAIN in place of answers with these addresses; Weir blocks them. */
function mapBogus(builder: PlanBuilder, dns: ForeignTree): void {
  const lists = new GeneratedLists(builder, 'AdGuard Home: bogus addresses', 'adguard-home-bogus');
  for (const address of dns.texts('bogus_nxdomain') ?? []) {
    const remark = importReason('adguard_bogus');
    const item = builder.item('list_rule', `dns.bogus_nxdomain ${address}`, remark);
    if (/^(?:ip|subnet)$/.test(placeOf(address)?.kind ?? ''))
      lists.add(`bogus-nxdomain=${address}`, null, item);
    else builder.refuse(item, importReason('not_network_or_address'));
  }
  lists.finish();
}

/** Reports differences in the order in which Weir applies policy. */
function reportRanks(builder: PlanBuilder, { filters, rules, everyone, clients }: AdguardSettings): void {
  const allows = filters.some(({ kind, enabled }) => kind === 'allow' && enabled);
  const hasServices = [everyone, ...clients.map(({ policy }) => policy)].some(
    ({ services }) => services.length > 0,
  );
  const exceptions = rules.map((rule) => rule.trim()).filter((rule) => rule.startsWith('@@'));
  if (hasServices && (allows || exceptions.length > 0))
    builder.differs(
      'other',
      'exceptions from blocked services',
      importReason('adguard_service_exceptions'),
      exceptions.flatMap((rule) => /^@@\|\|?([\w.-]+)/.exec(rule)?.[1] ?? []),
    );
}
