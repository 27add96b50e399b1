/** @needs root */
import { expect, test } from '@jest/globals';
import { takenNiceness } from '../../../test/support/parts/taken-niceness.ts';

test('adoptDnsPriority() as root lowers the niceness of the threads to that of the previous threads', () => {
  expect(takenNiceness(1, true)).toEqual([1, 1, 4]);
});
