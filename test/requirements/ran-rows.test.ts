import { describe, expect, test } from '@jest/globals';
import { casesByFile, unshownRows } from './ran-rows.ts';
import type { CaseResult } from './ran-rows.ts';

const FILE = 'config/made.test.ts';

/** Faults of a row with these titles, after a run of these cases. */
function complaints(
  titles: readonly string[],
  cases: readonly (readonly [describe: string, title: string, status?: string])[],
  skippedFiles: readonly string[] = [],
): string[] {
  const assertionResults = cases.map(([describe, title, status = 'passed']): CaseResult => {
    return { title, fullName: `${describe} ${title}`, status };
  });
  const results = { testResults: [{ name: `/checkout/${FILE}`, assertionResults }] };
  return unshownRows(
    [{ what: 'a.key', file: FILE, titles }],
    casesByFile(results, '/checkout'),
    skippedFiles,
  );
}

describe('unshownRows(), the requirement rows without a passed test,', () => {
  test('does not contain a case that passed, by its title or its full name', () => {
    expect(
      complaints(
        ['a is set', 'key b is set'],
        [
          ['key', 'a is set'],
          ['key', 'b is set'],
        ],
      ),
    ).toEqual([]);
  });

  test('contains a case that did not run, and the title of a template', () => {
    expect(complaints(['a is set', '$key is set'], [['key', 'b is set']])).toEqual([
      `a.key: ${FILE}: "a is set" did not run`,
      `a.key: ${FILE}: "$key is set" did not run`,
    ]);
  });

  test.each(['failed', 'pending', 'todo'])('contains a case that is %s', (status) => {
    expect(complaints(['a is set'], [['key', 'a is set', status]])).toEqual([
      `a.key: ${FILE}: "a is set" did not pass (${status})`,
    ]);
  });

  test('contains a request for the full name if two cases share a title', () => {
    const cases = [
      ['key', 'is set'],
      ['value', 'is set'],
    ] as const;
    expect(complaints(['is set'], cases)).toEqual([
      `a.key: ${FILE}: "is set" is the title of 2 cases: use the full name of one`,
    ]);
    expect(complaints(['key is set'], cases)).toEqual([]);
  });

  test('contains a failed case among several with one full name', () => {
    const cases = [
      ['key', 'is set'],
      ['key', 'is set', 'failed'],
    ] as const;
    expect(complaints(['is set'], cases)).toHaveLength(1);
  });

  test('contains rows of a file without results, unless the file was skipped', () => {
    const rows = [{ what: 'a rule', file: 'test/other.test.ts', titles: ['holds'] }];
    expect(unshownRows(rows, new Map())).toEqual(['a rule: test/other.test.ts: "holds" did not run']);
    expect(unshownRows(rows, new Map(), ['test/other.test.ts'])).toEqual([]);
  });
});
