/** Tables, columns and their values in words of the reader's language. */
import type { MessageKey } from '../../i18n/language.ts';
import type { Say } from '../../i18n/say.ts';
import { referredTo, textOf } from './row-changes.ts';
import type { Names } from './row-changes.ts';

const TABLES: Readonly<Record<string, MessageKey>> = {
  groups: 'history.table.groups',
  clients: 'history.table.clients',
  managed_domains: 'history.table.managed_domains',
  regex_filters: 'history.table.regex_filters',
  blocked_services: 'history.table.blocked_services',
  custom_services: 'history.table.custom_services',
  forward_zones: 'history.table.forward_zones',
  local_records: 'history.table.local_records',
  schedule_profiles: 'history.table.schedule_profiles',
  schedule_slots: 'history.table.schedule_slots',
  group_schedules: 'history.table.group_schedules',
  client_subnets: 'history.table.client_subnets',
  config_values: 'history.table.config_values',
  safe_search_configs: 'history.table.safe_search_configs',
  list_sources: 'history.table.list_sources',
  list_source_groups: 'history.table.list_source_groups',
};

const FIELDS: Readonly<Record<string, MessageKey>> = {
  action: 'history.field.action',
  comment: 'history.field.comment',
  content_key: 'history.field.content_key',
  days: 'history.field.days',
  domains: 'services.field.domains',
  enabled: 'history.field.enabled',
  end_minute: 'history.field.end_minute',
  group_id: 'history.field.group_id',
  held_key: 'history.field.held_key',
  kind: 'history.field.kind',
  name: 'field.name',
  profile_id: 'history.field.profile_id',
  servers: 'zones.servers',
  start_minute: 'history.field.start_minute',
  timezone: 'history.field.timezone',
  ttl: 'history.field.ttl',
  url: 'history.field.url',
  value: 'history.field.value',
};

const WORDS: Readonly<Record<string, MessageKey>> = {
  'action allow': 'history.word.allow',
  'action deny': 'history.word.deny',
  'action allow_all': 'history.word.allow_all',
  'action block_all': 'history.word.block_all',
  'kind allow': 'history.word.allowlist',
  'kind block': 'history.word.blocklist',
};

/** A table in words; its own name where there is no word. */
export function tableWord(table: string, say: Say): string {
  const key = TABLES[table];
  return key === undefined ? table : say(key);
}

/** A column in words. */
export function fieldWord(field: string, say: Say): string {
  const key = FIELDS[field];
  return key === undefined ? field : say(key);
}

/** A value in words. */
export function valueWord(field: string, value: unknown, names: Names, say: Say): string {
  if (field === 'group_id' && value === null) return say('history.word.everyGroup');
  if (value === null || value === '') return say('history.word.nothing');
  if (typeof value === 'boolean') return say(value ? 'field.yes' : 'field.no');
  const word = WORDS[`${field} ${textOf(value)}`];
  if (word !== undefined) return say(word);
  if (typeof value === 'number' && field.endsWith('_minute')) return timeOfDay(value);
  if (typeof value === 'number' && field === 'days') return daysOf(value);
  return referredTo(field, value, names) ?? textOf(value);
}

function timeOfDay(minute: number): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** Bit 0 is Monday; 2024 began with one. */
function daysOf(bits: number): string {
  const short = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    weekday: 'short',
    timeZone: 'UTC',
  });
  return [0, 1, 2, 3, 4, 5, 6]
    .filter((day) => (bits & (1 << day)) !== 0)
    .map((day) => short.format(new Date(Date.UTC(2024, 0, 1 + day))))
    .join(', ');
}
