import { describe, expect, test } from '@jest/globals';
import { OWN, takenNiceness } from '../../../test/support/parts/taken-niceness.ts';

describe('adoptDnsPriority()', () => {
  test('keeps the initial niceness if there is no previous process, or if its threads had a higher niceness', () => {
    expect(takenNiceness(undefined, true)).toEqual([OWN, OWN, OWN + 3]);
    expect(takenNiceness(OWN + 5, true)).toEqual([OWN, OWN, OWN + 3]);
  });

  test('keeps the initial niceness if the process may not use the niceness of the previous threads', () => {
    expect(takenNiceness(1, false)).toEqual([1, OWN, OWN]);
  });
});
