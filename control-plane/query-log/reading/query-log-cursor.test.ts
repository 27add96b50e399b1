import { describe, expect, test } from '@jest/globals';
import { InvalidCursor, decodeCursor, encodeCursor } from './query-log-cursor.ts';

const textOf = (content: string): string => Buffer.from(content).toString('base64url');

describe('decodeCursor()', () => {
  test('reads what encodeCursor() wrote', () => {
    for (const [isNewer, queries] of [false, true].flatMap(
      (newer) =>
        [
          [newer, 5],
          [newer, 20_000],
        ] as const,
    )) {
      const cursor = { timestampUs: 1_783_254_600_123_456, id: 42, totals: { rows: 5, queries }, isNewer };
      expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
    }
  });

  test.each([
    ['an empty text', ''],
    ['two numbers', textOf('1.2')],
    ['four numbers', textOf('1.2.3.4')],
    ['an unknown direction', textOf('1.2.3.o')],
    ['a number with a sign', textOf('-1.2.3')],
    ['a text instead of a number', textOf('1.x.3')],
    ['a number with too many digits', textOf('12345678901234567.2.3')],
    ['a number beyond the safe integers', textOf('9999999999999999.2.3')],
    ['a number of repeats that is not a number', textOf('1.2.3.r')],
    ['a number of repeats beyond the safe integers', textOf('1.2.3.r9999999999999999')],
    ['a last number beyond the safe integers', textOf('1.2.9999999999999999')],
    ['a line feed after the text', textOf('1.2.3\n')],
  ])('refuses %s', (_what, text) => {
    expect(() => decodeCursor(text)).toThrow(InvalidCursor);
  });
});
