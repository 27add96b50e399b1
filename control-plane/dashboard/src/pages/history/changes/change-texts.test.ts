import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  codedAction,
  codedSubject,
  codedWord,
  ENGLISH_CHANGES,
  joined,
} from '../../../../../../shared/policy/changes/change-codes.ts';
import type {
  ChangeTexts,
  CodedAction,
  CodedSubject,
} from '../../../../../../shared/policy/changes/change-codes.ts';
import { actionChoices, chosenAction, entryParts, revisionParts } from './change-texts.ts';

const FILES = readdirSync(import.meta.dirname).filter((file) => /^change-texts\.\w+\.json$/.test(file));
const read = (file: string): ChangeTexts =>
  JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as ChangeTexts;
const LANGUAGES = readdirSync(join(import.meta.dirname, '../../../i18n')).flatMap(
  (file) => /^(\w+)\.json$/.exec(file)?.[1] ?? [],
);
const KINDS = ['subjects', 'actions', 'words'] as const;

const placesOf = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

test('each language of the dashboard has a file with texts of changes', () => {
  expect(FILES.map((file) => file.split('.')[1]!).sort()).toEqual(LANGUAGES.sort());
});

describe.each(FILES)('the change texts in %s', (file) => {
  const texts = read(file);

  test.each(KINDS)('cover each code of %s, with the same parameters', (kind) => {
    const english: Readonly<Record<string, string>> = ENGLISH_CHANGES[kind];
    expect(Object.keys(texts[kind])).toEqual(Object.keys(english));
    for (const [code, text] of Object.entries(texts[kind])) {
      expect(text.trim()).not.toBe('');
      expect([code, placesOf(text)]).toEqual([code, placesOf(english[code]!)]);
    }
    expect(placesOf(texts.line)).toEqual(placesOf(ENGLISH_CHANGES.line));
  });

  test('differ between all actions, which users can choose as a filter', () => {
    const choices = actionChoices(texts, 'en').map(({ text }) => text);
    expect(choices.filter((text, index) => choices.indexOf(text) !== index)).toEqual([]);
  });
});

describe('the description of a policy change', () => {
  const codes = { subject: codedSubject('group', { name: '<b>Kids</b>' }), action: codedAction('created') };
  const english = { codes, summary: 'group Kids: created', subject: 'group Kids', action: 'created' };
  const german = read('change-texts.de.json');

  test('is in the language of the user', () => {
    expect(joined(revisionParts(english, german))).toBe('Gruppe <b>Kids</b>: angelegt');
    expect(joined(entryParts(english, german))).toBe('Gruppe <b>Kids</b>: angelegt');
  });

  test('marks names as values', () => {
    const names = revisionParts(english, german).filter(({ isValue }) => isValue);
    expect(names).toEqual([{ text: '<b>Kids</b>', isValue: true }]);
  });

  test('has the names of groups, devices and schedules that exist, instead of their ids', () => {
    const map = (name: string): ReadonlyMap<number, string> => new Map([[3, name]]);
    const names = { groups: map('Kids'), clients: map('Tablet'), schedules: map('Bedtime') };
    const line = (subject: CodedSubject, action: CodedAction): string =>
      joined(entryParts({ ...english, codes: { subject, action } }, { ...german, names }));
    const assigned = (profile: number): CodedAction => codedAction('schedule_assigned', { profile });
    expect(line(codedSubject('group', { name: 3 }), assigned(3))).toBe(
      'Gruppe Kids: Zeitplan Bedtime zugewiesen',
    );
    expect(line(codedSubject('group', { name: 4 }), assigned(4))).toBe('Gruppe 4: Zeitplan 4 zugewiesen');
    expect(line(codedSubject('safe_search', { group: 3 }), codedAction('changed'))).toContain('Kids');
    const target = codedWord('every_name');
    const [id, action, scope] = [3, codedWord('allow'), codedWord('client', { name: 3 })];
    expect(line(codedSubject('grant', { id, action, target, scope }), codedAction('created'))).toBe(
      'befristete Regel 3: jeden Namen erlauben, für Gerät Tablet: angelegt',
    );
  });

  test('is the text of the server if a code is missing or unknown', () => {
    for (const unknown of [
      { ...english, codes: null },
      { ...english, codes: { ...codes, subject: { code: 'later' as 'group', params: {} } } },
    ]) {
      expect(joined(revisionParts(unknown, german))).toBe('group Kids: created');
      expect(joined(entryParts(unknown, german))).toBe('group Kids: created');
    }
  });
});

test('the actions offered as a filter are in alphabetical order, without parameters', () => {
  const texts = { ...ENGLISH_CHANGES, actions: { deleted: 'zerstört', moved: 'in {group} verschoben' } };
  expect(actionChoices(texts, 'de')).toEqual([
    { id: 'moved', text: 'in … verschoben' },
    { id: 'deleted', text: 'zerstört' },
  ]);
});

test.each(['', 'all', 'unknown', 'toString', '__proto__'])(
  '%j in a URL selects no action filter',
  (inUrl) => {
    expect(chosenAction(inUrl, ENGLISH_CHANGES)).toBe('all');
  },
);
