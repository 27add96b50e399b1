import { describe, expect, test } from '@jest/globals';
import { configKeyOf, proposedChoices, queryOf, valueText, withSetting } from './import-choices.ts';
import type { Question, Setting } from './import-choices.ts';

const setting = (key: string, selected: boolean): Setting => ({
  key,
  value: 7,
  selected,
  reason: null,
  can_select: true,
});
const QUESTION: Question = {
  id: 'starting_list',
  kind: 'starting_list',
  name: 'a list',
  choices: [{ id: 'keep', text: 'keep it' }],
  choice: 'keep',
};

describe('the settings and answers chosen for an import', () => {
  test('are those proposed by the dry run until the user changes them', () => {
    const settings = [setting('database.query_log_days', true), setting('dns.pools.0', false)];
    const proposed = proposedChoices({ settings, questions: [QUESTION] });
    expect(queryOf(proposed)).toEqual({
      settings: 'database.query_log_days',
      answers: 'starting_list:keep',
    });
    const both = withSetting(proposed, 'dns.pools.0', true);
    expect(queryOf(both).settings).toBe('database.query_log_days,dns.pools.0');
    const none = withSetting(proposed, 'database.query_log_days', false);
    expect(queryOf({ ...none, answers: {} })).toEqual({ settings: 'none', answers: '' });
  });
});

describe('configKeyOf() for a setting of an import', () => {
  test('omits the index of a pool from the configuration key', () => {
    expect(['dns.pools.0', 'dns.ecs'].map((key) => configKeyOf({ key }))).toEqual(['dns.pools', 'dns.ecs']);
  });
});

describe('valueText(), the display form of a setting,', () => {
  test.each([
    [{ name: 'a', servers: ['192.0.2.1', '192.0.2.2'] }, '192.0.2.1, 192.0.2.2'],
    [['private', 'connected'], 'private, connected'],
    ['nxdomain', 'nxdomain'],
    [false, 'false'],
  ])('of %j is %s', (value, text) => {
    expect(valueText(value)).toBe(text);
  });
});
