import { describe, expect, test } from '@jest/globals';
import {
  actionParts,
  codedAction,
  codedSubject,
  codedWord,
  joined,
  lineParts,
  subjectParts,
  summaryParts,
} from './change-codes.ts';
import type { CodedSubject } from './change-codes.ts';

const CREATED = codedAction('created');

describe('the English text of a policy change', () => {
  test('contains subject and action', () => {
    const change = { subject: codedSubject('group', { name: 'Kids' }), action: CREATED };
    expect([joined(summaryParts(change)), joined(lineParts(change))]).toEqual([
      'group Kids: created',
      'group Kids: created',
    ]);
  });

  test('contains translated words and lists of words', () => {
    const scope = codedWord('client', { name: 4 });
    const [action, target] = [codedWord('allow'), codedWord('every_name')];
    expect(joined(subjectParts(codedSubject('grant', { id: 7, action, target, scope })))).toBe(
      'grant 7: allow every name for client 4',
    );
    const lists = [codedWord('blocklist', { name: 'Ads' }), codedWord('allowlist', { name: 'Mine' })];
    expect(joined(subjectParts(codedSubject('many_lists', { lists, more: 2 })))).toBe(
      'blocklist Ads, allowlist Mine and 2 more',
    );
  });

  test('does not contain the word "policy" in a summary about the whole policy', () => {
    const change = { subject: codedSubject('policy'), action: codedAction('rolled_back', { revision: 4 }) };
    expect(joined(summaryParts(change))).toBe('rolled back to revision 4');
    expect(joined(lineParts(change))).toBe('policy: rolled back to revision 4');
  });

  test('does not expand placeholders within names', () => {
    const subject = codedSubject('managed_domain', { name: '{action}', action: codedWord('deny') });
    expect(subjectParts(subject)).toEqual([
      { text: 'managed domain ', isValue: false },
      { text: '{action}', isValue: true },
      { text: ' (', isValue: false },
      { text: 'deny', isValue: false },
      { text: ')', isValue: false },
    ]);
  });
});

describe('the text of a policy change in another language', () => {
  const texts = {
    line: '{action}: {subject}',
    subjects: { group: 'Gruppe {name}', grant: '{scope}' },
    actions: { created: 'erstellt' },
    words: { everyone: 'alle' },
  };

  test('may have a different word order', () => {
    const subject = codedSubject('group', { name: 'Kids' });
    expect(joined(lineParts({ subject, action: CREATED }, texts))).toBe('erstellt: Gruppe Kids');
  });

  test('is null for an unknown code of a subject, an action or a word', () => {
    const subject = codedSubject('group', { name: 'Kids' });
    const newer: CodedSubject = { code: 'grant', params: { scope: codedWord('group', { name: 'Kids' }) } };
    expect(lineParts({ subject: codedSubject('blocking'), action: CREATED }, texts)).toBeNull();
    expect(lineParts({ subject, action: codedAction('deleted') }, texts)).toBeNull();
    expect(actionParts(codedAction('deleted'), texts)).toBeNull();
    expect(lineParts({ subject: newer, action: CREATED }, texts)).toBeNull();
  });
});
