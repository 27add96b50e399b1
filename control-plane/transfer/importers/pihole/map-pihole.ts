/** Maps the settings of a Pi-hole to a plan of Weir's entities. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapClients } from './map-clients.ts';
import { mapExclusions } from './map-exclusions.ts';
import { mapKeys } from './map-keys.ts';
import { blockingAddresses } from './map-switches.ts';
import { mapDomains, type MappedRules } from './map-rules.ts';
import { reportOtherKeys } from './other-keys.ts';
import type { PiholeList, PiholeSettings } from './pihole-settings.ts';

/** Maps all settings. */
export function mapPihole(settings: PiholeSettings): ImportPlan {
  const builder = new PlanBuilder();
  if (!settings.hasTables) builder.notMapped('other', 'gravity.db', importReason('pihole_no_gravity'));
  // Clients are mapped first, because they determine the groups of everything else.
  const sets = mapClients(builder, settings);
  mapExclusions(builder, settings.keys, () => sets.groupOf([]));
  const groupsOfList = ({ id }: PiholeList): string[] => sets.groupsOf(settings.listLinks.get(id) ?? []);
  for (const list of settings.lists) addList(builder, list, groupsOfList(list));
  const lists = new GeneratedLists(builder, 'Pi-hole: rules', 'pihole-rules');
  const rules = mapDomains(
    {
      builder,
      lists,
      groupsOf: (id) => sets.groupsOf(settings.domainLinks.get(id) ?? []),
      hasAllowlist: settings.lists.some(
        (list) => list.kind === 'allow' && list.enabled && groupsOfList(list).length > 0,
      ),
      blockingAddresses: blockingAddresses(settings.keys),
    },
    settings.domains,
  );
  lists.finish();
  for (const name of mapKeys(builder, settings)) reportDenied(builder, rules, name);
  reportOtherKeys(builder, settings.keys);
  return builder.finish('pihole');
}

/**
 * Reports names that are denied but have records: Pi-hole applies denies before its own records; in Weir, records come
 * first.
 */
function reportDenied(builder: PlanBuilder, rules: MappedRules, written: string): void {
  const name = canonicalDomain(written);
  const denier = name === null ? null : rules.denierOf(name);
  if (name === null || denier === null) return;
  builder.differs('local_record', name, importReason('pihole_record_denied', { rule: denier }));
}

function addList(builder: PlanBuilder, list: PiholeList, groups: readonly string[]): void {
  const { address: place, kind, comment, enabled } = list;
  addForeignList(
    builder,
    { kind, place, name: comment, comment, enabled, groups },
    {
      noGroup: importReason('pihole_no_group'),
      noText: importReason('pihole_local_file'),
    },
  );
}
