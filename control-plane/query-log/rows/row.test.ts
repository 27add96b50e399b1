import { describe, expect, test } from '@jest/globals';
import { emptyRow, UNKNOWN_ANSWER } from './row.ts';

describe('emptyRow()', () => {
  test('has an unknown answer, which differs from an empty answer', () => {
    expect(emptyRow()).toMatchObject({ answerType: UNKNOWN_ANSWER, extendedError: -1, origin: null });
  });

  test('shares no object with another row', () => {
    const [one, other] = [emptyRow(), emptyRow()];
    one.answers.length = one.qname.at = 7;
    expect(other).toEqual(emptyRow());
  });
});
