import { describe, expect, test } from '@jest/globals';
import { OWN, takenNiceness } from '../../../test/support/parts/taken-niceness.ts';

describe('answerAsFirst()', () => {
  test('keeps the initial niceness without a previous process, or with one that is nicer', () => {
    expect(takenNiceness(undefined, true)).toEqual([OWN, OWN, OWN + 3]);
    expect(takenNiceness(OWN + 5, true)).toEqual([OWN, OWN, OWN + 3]);
  });

  test('keeps its niceness, and grows no nicer, when it may not take that of the threads before', () => {
    expect(takenNiceness(1, false)).toEqual([1, OWN, OWN]);
  });
});
