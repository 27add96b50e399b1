/** Maps the settings of blocky to a plan of Weir's entities. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { isIP } from 'node:net';
import { decodeText } from '../files/decode-text.ts';
import { fileAt } from '../files/file-set.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { GroupSets } from '../plan/group-sets.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { PlannedPools } from '../plan/planned-pools.ts';
import { mapBlockyClients } from './blocky-clients.ts';
import { mapBlockyKeys } from './blocky-keys.ts';
import { mapBlockyNames } from './blocky-names.ts';
import { readBlockyRecords } from './blocky-records.ts';
import { reportBlockyRest } from './blocky-rest.ts';
import type { BlockyList, BlockySettings } from './blocky-settings.ts';
import { readBlockyUpstream } from './blocky-upstream.ts';

/** Maps all settings. */
export function mapBlocky(settings: BlockySettings): ImportPlan {
  const builder = new PlanBuilder();
  const { lists, file } = settings;
  const records = readBlockyRecords(settings);
  const sets = mapBlockyClients(builder, settings, records);
  for (const [index, list] of lists.entries()) mapList(builder, sets, settings, list, index);
  const generated = new GeneratedLists(builder, 'blocky: rules', 'blocky-rules');
  addAllowlistOnly(builder, sets, lists, generated);
  const pools = new PlannedPools(builder, readBlockyUpstream);
  mapBlockyNames({ builder, pools }, settings, records);
  mapBlockyKeys(builder, pools, generated, file);
  generated.finish();
  reportBlockyRest(builder, file);
  return builder.finish('blocky');
}

function mapList(
  builder: PlanBuilder,
  sets: GroupSets<string>,
  { files }: BlockySettings,
  { kind, group, place }: BlockyList,
  index: number,
): void {
  const path = place.replace(/^file:\/+/, '').replace(/^[./]+/, '');
  const isText = place.includes('\n');
  const content = isText ? undefined : (fileAt(files, path) ?? fileAt(files, path.split('/').at(-1) ?? path));
  const list = {
    kind,
    place: isText ? `${group} (own names)` : place,
    name: isText ? `blocky: ${group}` : '',
    enabled: true,
    groups: sets.groupsOf([group]),
    text: withAddressRules(content === undefined ? (isText ? place : undefined) : decodeText(content)),
    fileName: `blocky-${group.slice(0, 60)}-${index + 1}`,
    isCustom: isText,
  };
  addForeignList(builder, list, {
    noGroup: importReason('blocky_group_unused', { group }),
    noText: importReason('local_file'),
  });
}

/** Converts each line that is an address to a rule that denies answers with this address. */
function withAddressRules(text: string | undefined): string | undefined {
  return text?.replaceAll(/^[ \t]*([\da-f.:]+)[ \t]*$/gim, (line, address: string) =>
    isIP(address) > 0 ? `bogus-nxdomain=${address}` : line,
  );
}

/** Clients of a group with only allowlists may query only the names on these lists. */
function addAllowlistOnly(
  builder: PlanBuilder,
  sets: GroupSets<string>,
  lists: readonly BlockyList[],
  generated: GeneratedLists,
): void {
  const denied = new Set(lists.filter(({ kind }) => kind === 'block').map(({ group }) => group));
  for (const group of new Set(lists.map((list) => list.group))) {
    const groups = sets.groupsOf([group]);
    if (denied.has(group) || groups.length === 0) continue;
    generated.add(
      '||*^',
      groups,
      builder.item('list_rule', `${group}: all other names`, importReason('blocky_others_denied')),
    );
  }
}
