/**
 * Names of items in reports of imports that describe something that has no name in the file, with a code and an English
 * text. The names of other items are names, keys or lines of the file. The dashboard has the other languages, in
 * `i18n/reasons/`.
 */
import { type CodedReason, ReasonTexts } from './reason-texts.ts';
import type { Params } from './text-params.ts';

/** English texts; `{name}` is a parameter. */
export const ITEM_NAMES = {
  address_names: 'names with an address',
  aliases: 'aliases of other names',
  app: 'app {app}',
  category: 'category {id}',
  denied_alias: 'names whose alias is denied',
  denied_names: 'denied names',
  dhcp: 'DHCP server',
  filter: 'filter {type}',
  filtered_types: 'filtered types',
  group_allowed: '{group}: allowed regular expressions and blocked names',
  group_answers: '{group}: answers to blocked queries',
  group_tags: '{group}: tags',
  hosts_file: 'hosts file {source}',
  hosts_names: 'names of hosts files',
  lease: '{name} (lease)',
  line: 'line {number}',
  local_names: 'names below .local',
  name_count: '{count} names',
  query_log: 'query log',
  record_names: 'names with records',
  record_types: 'types of names with records',
  reserved_names: 'reserved names',
  rewrite_aliases: 'aliases of rewrites',
  service_answers: 'answers of blocked services',
  zone: 'zone {name}',
} as const;

export type ItemNameCode = keyof typeof ITEM_NAMES;

const texts = new ReasonTexts<typeof ITEM_NAMES>(ITEM_NAMES);

/** The English name of an item. */
export function itemName<Code extends ItemNameCode>(
  code: Code,
  ...[params]: Params<(typeof ITEM_NAMES)[Code], string | number>
): string {
  return texts.say(code, params);
}

/** Code and parameters of a name; null for a name of the file. */
export function readItemName(name: string): CodedReason<ItemNameCode> | null {
  return texts.read(name);
}
