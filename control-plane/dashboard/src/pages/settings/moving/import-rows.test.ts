import { describe, expect, test } from '@jest/globals';
import { IMPORT_FORMATS } from '../../../../../../shared/api/imports-api.ts';
import { MAX_ROWS, PROGRAMS, rowsOf } from './import-rows.ts';
import type { Item } from './import-rows.ts';

const item = (name: string, result: Item['result']): Item => ({
  kind: 'group',
  name,
  action: null,
  result,
  reason: null,
});

describe('rowsOf() for an import report', () => {
  test('keeps the order of the file and gives equal items different keys', () => {
    const items = [item('a', 'done'), item('b', 'not_mapped'), item('a', 'done')];
    expect(rowsOf({ items }, 'done').map(({ name, key }) => [name, key])).toEqual([
      ['a', 0],
      ['a', 2],
    ]);
  });

  test('returns no more rows than its limit', () => {
    const items = Array.from({ length: MAX_ROWS + 9 }, (_, index) => item(`${index}`, 'skipped'));
    expect(rowsOf({ items }, 'skipped')).toHaveLength(MAX_ROWS);
  });
});

describe('PROGRAMS whose files can be imported', () => {
  test('contain each format that the server supports', () => {
    expect(Object.keys(PROGRAMS)).toEqual([...IMPORT_FORMATS]);
  });
});
