/** The groups of Technitium's app Advanced Blocking, which are selected by the client's network. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { addPlacedClient, placeOf } from '../plan/client-place.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { DEFAULT_GROUP } from '../plan/import-plan.ts';
import type { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** The network 0.0.0.0/0 or ::/0, which stands for all clients outside the other networks. */
const EVERYONE = /^(?:0\.0\.0\.0\/0|\[?::\]?\/0)$/;
const WORDS = { noGroup: importReason('technitium_no_client'), noText: importReason('not_a_url') };
/** Keys whose values are lists, and whether these lists block or allow. */
const LISTS = [
  ['blockListUrls', 'block'],
  ['adblockListUrls', 'block'],
  ['regexBlockListUrls', 'block'],
  ['allowListUrls', 'allow'],
  ['regexAllowListUrls', 'allow'],
] as const;

/** Adds groups, their clients and their rules. */
export function mapAdvancedBlocking(builder: PlanBuilder, names: OwnNames, app: ForeignTree): void {
  const networks = app
    .members('networkGroupMap')
    .map(([network, group]) => [network, group.text() ?? ''] as const);
  const ofEveryone = networks.find(([network]) => EVERYONE.test(network))?.[1];
  const groups = new Map<string, string>();
  for (const group of app.list('groups')) {
    const name = group.text('name') ?? '';
    groups.set(name, name === ofEveryone ? DEFAULT_GROUP : makeGroup(builder, name));
  }
  const isOn = app.flag('enableBlocking') !== false;
  for (const group of app.list('groups')) mapGroup(builder, names, group, groups, isOn);
  for (const [network, name] of networks) mapNetwork(builder, network, groups.get(name), ofEveryone === name);
  for (const [place] of app.members('localEndPointGroupMap'))
    builder.notMapped('client', place, importReason('technitium_server_address'));
}

function makeGroup(builder: PlanBuilder, name: string): string {
  const item = builder.item('group', name);
  return builder.group(name, { enabled: true, comment: '' }, item);
}

function mapNetwork(
  builder: PlanBuilder,
  network: string,
  group: string | undefined,
  isOfEveryone: boolean,
): void {
  if (EVERYONE.test(network) && isOfEveryone)
    return builder.skipped('subnet', network, importReason('default_group'));
  const place = placeOf(network.replace(/^\[(.*)\]/, '$1'));
  if (place === null || place.kind === 'mac' || group === undefined)
    return builder.notMapped('subnet', network, importReason('technitium_no_group'));
  addPlacedClient(builder, { shown: network, place, group }, { name: null });
}

function mapGroup(
  builder: PlanBuilder,
  names: OwnNames,
  group: ForeignTree,
  groups: ReadonlyMap<string, string>,
  areOn: boolean,
): void {
  const title = group.text('name') ?? '';
  const own = [groups.get(title)!];
  const enabled = areOn && group.flag('enableBlocking') !== false;
  for (const [key, kind] of LISTS)
    for (const list of group.list(key)) {
      const place = list.text() ?? list.text('url') ?? '';
      addForeignList(builder, { kind, place, enabled, subdomains: true, groups: own }, WORDS);
    }
  for (const [key, action] of [
    ['allowed', 'allow'],
    ['blocked', 'deny'],
  ] as const) {
    for (const name of group.texts(key) ?? []) names.add({ name: `*.${name}`, action, groups: own, enabled });
    for (const text of group.texts(`${key}Regex`) ?? []) {
      const item = builder.item('regex_filter', text);
      builder.rule({ table: 'regex_filters', text, action, groups: own, comment: '', enabled }, item);
    }
  }
  reportRest(builder, title, group);
}

function reportRest(builder: PlanBuilder, title: string, group: ForeignTree): void {
  const answers = itemName('group_answers', { group: title });
  if (group.flag('blockAsNxDomain') === true || group.list('blockingAddresses').length > 0)
    builder.notMapped('other', answers, importReason('technitium_one_answer'));
  const allowed = itemName('group_allowed', { group: title });
  if (group.list('allowedRegex').length > 0 && group.list('blocked').length > 0)
    builder.notMapped('other', allowed, importReason('technitium_allowed_regex'));
}
