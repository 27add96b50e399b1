import { describe, expect, test } from '@jest/globals';
import { readOwnNumbers } from './own-options.ts';

const DEFAULTS = { queries: 100, rate: 1.5 };

describe('readOwnNumbers(), the options of one program,', () => {
  test('returns its own options and the remaining arguments', () => {
    const args = ['--queries', '7', '--names', '3', '--keep'];
    expect(readOwnNumbers(args, DEFAULTS)).toEqual({
      own: { queries: 7, rate: 1.5 },
      rest: ['--names', '3', '--keep'],
    });
  });

  test.each(['0', '-1', 'x'])('rejects %j and reports the option', (value) => {
    expect(() => readOwnNumbers(['--rate', value], DEFAULTS)).toThrow('--rate');
  });

  test('returns null if help is requested', () => {
    expect(readOwnNumbers(['--help'], DEFAULTS)).toBeNull();
  });
});
