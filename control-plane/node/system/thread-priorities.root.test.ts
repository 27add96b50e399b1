/** @needs root */
import { expect, test } from '@jest/globals';
import { takenNiceness } from '../../../test/support/parts/taken-niceness.ts';

test('adoptDnsPriority() uses the niceness of the previous threads if root allows it to be lowered', () => {
  expect(takenNiceness(1, true)).toEqual([1, 1, 4]);
});
