/** Texts for tables, columns and their values in the user's language. */
import type { MessageKey } from '../../i18n/language.ts';
import type { Say } from '../../i18n/say.ts';
import { formatChangedValue, formatMoment, isCustomRules, referredTo } from './row-changes.ts';
import { keyOfCode } from '../../i18n/say.ts';
import { wordFor } from '../../i18n/say.ts';
import type { ColumnValue, Names } from './row-changes.ts';

const WORDS: Readonly<Record<string, MessageKey>> = {
  'action allow': 'history.word.allow',
  'action block': 'history.word.deny',
  'action deny': 'history.word.deny',
  'action allow_all': 'history.word.allow_all',
  'action block_all': 'history.word.block_all',
  'kind allow': 'history.word.allowlist',
  'kind block': 'history.word.blocklist',
};

/** The label of a column; the column's name if it has no label. */
export function fieldWord(field: string): string {
  return keyOfCode('history.field', field) === null
    ? wordFor('field', field)
    : wordFor('history.field', field);
}

/** Text for a value. */
export function valueWord({ table, field, value }: ColumnValue, names: Names, say: Say): string {
  if (field === 'group_id' && value === null)
    return say(table === 'clients' ? 'clients.group.auto' : 'history.word.everyGroup');
  if (value === null || value === '') return say('history.word.nothing');
  if (typeof value === 'boolean') return say(value ? 'field.yes' : 'field.no');
  if (isCustomRules({ table, field, value })) return say('lists.custom');
  const word = WORDS[`${field} ${formatChangedValue(value)}`];
  if (word !== undefined) return say(word);
  if (typeof value === 'number' && field.endsWith('_minute')) return timeOfDay(value);
  if (typeof value === 'number' && field === 'days') return daysOf(value);
  if (typeof value === 'string' && field === 'until')
    return formatMoment(value, document.documentElement.lang);
  return referredTo(field, value, names) ?? formatChangedValue(value);
}

function timeOfDay(minute: number): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** Names of the days in `bits`. Bit 0 is Monday, and 1 January 2024 was a Monday. */
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
