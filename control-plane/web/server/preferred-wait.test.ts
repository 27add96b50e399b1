import { describe, expect, test } from '@jest/globals';
import { preferredWaitSecs } from './preferred-wait.ts';

describe('preferredWaitSecs(), the wait in a Prefer header,', () => {
  test.each([
    [undefined, null],
    ['', null],
    ['respond-async', null],
    ['wait', null],
    ['wait=', null],
    ['wait=-1', null],
    ['wait=1.5', null],
    ['await=5', null],
    ['wait=0', 0],
    ['wait=10', 10],
    ['Wait = "10"; x=y', 10],
    ['respond-async, wait=3, wait=9', 3],
    ['wait=86400', 30],
    [`wait=${'9'.repeat(400)}`, null],
  ])('for %j is %j', (field, secs) => {
    expect(preferredWaitSecs(field)).toBe(secs);
  });
});
