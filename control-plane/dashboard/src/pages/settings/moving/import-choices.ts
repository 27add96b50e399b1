/** Choices before an import: the settings that the import changes, and the user's answers to its questions. */
import type { CallOf } from '../../../../../../shared/api/client/typed-client.ts';
import type { Report } from './import-rows.ts';

export type Setting = Report['settings'][number];
export type Question = Report['questions'][number];

/** The choices so far. */
export interface Choices {
  /** Keys of the selected settings. */
  readonly selected: ReadonlySet<string>;
  /** The user's answers, by question. */
  readonly answers: Readonly<Record<string, string>>;
}

/** The choices that a dry run proposes. */
export function proposedChoices({ settings, questions }: Pick<Report, 'settings' | 'questions'>): Choices {
  const ticked = settings.filter(({ selected }) => selected).map(({ key }) => key);
  return {
    selected: new Set(ticked),
    answers: Object.fromEntries(questions.map(({ id, choice }) => [id, choice])),
  };
}

/** Selects or deselects a setting. */
export function withSetting(choices: Choices, key: string, isSelected: boolean): Choices {
  const selected = new Set(choices.selected);
  if (isSelected) selected.add(key);
  else selected.delete(key);
  return { ...choices, selected };
}

/** Query parameters of the import with these choices. */
export function queryOf({
  selected,
  answers,
}: Choices): Pick<NonNullable<CallOf<'POST /import'>['query']>, 'settings' | 'answers'> {
  const pairs = Object.entries(answers).map(([id, choice]) => `${id}:${choice}`);
  return { settings: selected.size === 0 ? 'none' : [...selected].join(','), answers: pairs.join(',') };
}

/** The configuration key of a setting, without the index of a pool. */
export function configKeyOf({ key }: Pick<Setting, 'key'>): string {
  return key.replace(/\.\d+$/, '');
}

/** A value on one line; the value of a pool is shown as its servers. */
export function valueText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'servers' in value && Array.isArray(value.servers))
    return value.servers.join(', ');
  if (Array.isArray(value)) return value.map((one) => valueText(one)).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
