/** The settings of a Pi-hole as a plan of Weir's entities. Pure. */
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapClients } from './map-clients.ts';
import { mapKeys } from './map-keys.ts';
import { mapDomains } from './map-rules.ts';
import type { PiholeList, PiholeSettings } from './pihole-settings.ts';

/** Maps them all. */
export function mapPihole(settings: PiholeSettings): ImportPlan {
  const builder = new PlanBuilder();
  // First, as what clients need decides on the groups of everything else.
  const sets = mapClients(builder, settings);
  for (const list of settings.lists)
    addList(builder, list, sets.groupsOf(settings.listLinks.get(list.id) ?? []));
  const lists = new GeneratedLists(builder, 'Pi-hole: rules with options', 'pihole-rules');
  const groupsOf = (id: number): string[] => sets.groupsOf(settings.domainLinks.get(id) ?? []);
  mapDomains({ builder, lists, groupsOf }, settings.domains);
  lists.finish();
  mapKeys(builder, settings);
  return builder.finish('pihole');
}

function addList(builder: PlanBuilder, list: PiholeList, groups: readonly string[]): void {
  const { address: place, kind, comment, enabled } = list;
  addForeignList(
    builder,
    { kind, place, name: comment, comment, enabled, groups },
    { noGroup: 'it is in no group, so it is switched off', noText: 'it is a file there: add it by hand' },
  );
}
