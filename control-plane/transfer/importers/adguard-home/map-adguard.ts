/** The settings of an AdGuard Home as a plan of Weir's entities. Pure. */
import { decodeText } from '../files/decode-text.ts';
import { placeOf } from '../plan/client-place.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { addAddress } from '../plan/hosts-lines.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { adguardPlaceOf, mapAdguardClients } from './adguard-clients.ts';
import { mapAdguardDns } from './adguard-dns.ts';
import { mapAdguardKeys } from './adguard-keys.ts';
import type { AdguardFilter, AdguardRewrite, AdguardSettings } from './adguard-settings.ts';
import { mapUserRules } from './user-rules.ts';

/** The newest schema that was looked at. */
const NEWEST_SCHEMA = 34;

/** Maps them all. */
export function mapAdguard(settings: AdguardSettings): ImportPlan {
  const builder = new PlanBuilder();
  if (settings.schema > NEWEST_SCHEMA)
    builder.notMapped(
      'other',
      `schema ${settings.schema}`,
      `newer than ${NEWEST_SCHEMA}, which Weir knows: compare this report with the settings there`,
    );
  const groups = mapAdguardClients(builder, settings);
  for (const filter of settings.filters) mapFilter(builder, filter, groups);
  const lists = new GeneratedLists(builder, 'AdGuard Home: own rules', 'adguard-home-rules');
  mapUserRules({ builder, lists, groups, addressesOf: addressesOf(settings) }, settings.rules);
  lists.finish();
  for (const rewrite of settings.rewrites) mapRewrite(builder, rewrite);
  mapAdguardDns(builder, settings);
  mapAdguardKeys(builder, settings);
  reportRanks(builder, settings);
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
    noGroup: 'no client is filtered there, so it is switched off',
    noText: `it is a file there: add data/filters/${id}.txt to the archive`,
  });
}

/** `*.x` is every name below x and not x itself, in Weir too. */
function mapRewrite(builder: PlanBuilder, { domain, answer, enabled }: AdguardRewrite): void {
  const shown = `${domain} ${answer}`;
  if (!enabled) return builder.skipped('local_record', shown, 'it is switched off there');
  const isException = /^(?:A|AAAA)$/.test(answer) || answer.toLowerCase() === domain.toLowerCase();
  if (isException)
    return builder.notMapped('local_record', shown, 'Weir has no exceptions from local records');
  if (placeOf(answer)?.kind === 'ip') return addAddress(builder, domain, answer);
  builder.record({ name: domain, type: 'CNAME', value: answer }, builder.item('local_record', shown));
}

/** What `$client` may name, as addresses, networks, MACs and keys. */
function addressesOf({ clients }: AdguardSettings): ReadonlyMap<string, readonly string[]> {
  return new Map(
    clients.map(({ name, ids }) => [name, ids.flatMap((id) => adguardPlaceOf(id)?.text ?? [])] as const),
  );
}

/** Where Weir looks at things in another order. */
function reportRanks(builder: PlanBuilder, { filters, rules, everyone, clients }: AdguardSettings): void {
  const allows = filters.some(({ kind, enabled }) => kind === 'allow' && enabled);
  const hasServices = [everyone, ...clients.map(({ policy }) => policy)].some(
    ({ services }) => services.length > 0,
  );
  if (hasServices && (allows || rules.some((rule) => rule.trim().startsWith('@@'))))
    builder.notMapped(
      'other',
      'exceptions from blocked services',
      'in AdGuard Home an exception beats a blocked service; in Weir the service is blocked',
    );
}
