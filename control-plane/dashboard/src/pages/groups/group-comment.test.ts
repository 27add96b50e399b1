import { expect, test } from '@jest/globals';
import type { Say } from '../../i18n/say.ts';
import { groupComment } from './group-comment.ts';

const say: Say = (key) => `<${key}>`;
const FIRST = 'Clients that belong to no other group';

test.each([
  [true, FIRST, '<groups.default>'],
  [true, 'At home', 'At home'],
  [false, FIRST, FIRST],
  [false, '', ''],
])('groupComment() for is_default %j and the comment %j is %j', (isDefault, comment, shown) => {
  expect(groupComment({ is_default: isDefault, comment }, say)).toBe(shown);
});
