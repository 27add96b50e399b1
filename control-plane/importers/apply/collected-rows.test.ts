import { beforeEach, describe, expect, test } from '@jest/globals';
import { CollectedRows } from './collected-rows.ts';

/** The rows of each statement. */
let statements: string[][];
/** What rows were stored as, in order. */
let taken: string[];
let rows: CollectedRows<string, string>;

beforeEach(() => {
  statements = [];
  taken = [];
  rows = new CollectedRows(async (some) => {
    statements.push([...some]);
    return some.map((row) => `stored ${row}`);
  });
});
const add = (key: string): Promise<void> => rows.add(key, key, (stored) => taken.push(stored));

describe('CollectedRows', () => {
  test('writes all rows by one statement, and tells what each was stored as', async () => {
    for (const key of ['a', 'b', 'c']) await add(key);
    expect(statements).toEqual([]);
    await rows.flush();
    await rows.flush();
    expect(statements).toEqual([['a', 'b', 'c']]);
    expect(taken).toEqual(['stored a', 'stored b', 'stored c']);
  });

  test('writes a thousand rows by a statement', async () => {
    for (let row = 0; row < 2001; row++) await add(String(row));
    await rows.flush();
    expect(statements.map((some) => some.length)).toEqual([1000, 1000, 1]);
    expect(taken).toHaveLength(2001);
  });

  test('settle() writes a row that comes again, before it does', async () => {
    await add('a');
    await rows.settle('b');
    expect(statements).toEqual([]);
    await rows.settle('a');
    expect(taken).toEqual(['stored a']);
  });
});
