import { describe, expect, test } from '@jest/globals';
import type { Say } from '../../i18n/say.ts';
import { isGrant } from './is-grant.ts';
import { grantText } from './logged-grant.ts';

const say: Say = (key) => key;

describe('the text of a grant in the query log', () => {
  test.each([
    ['block *', 'grants.everything'],
    ['allow *.games.example', '*.games.example'],
    ['allow only www.games.example', 'www.games.example'],
    ['block service YouTube', 'YouTube'],
    ['allow * until 2026-11-30T10:00:00.000Z', 'grants.everything'],
    ['something else', 'something else'],
  ])('for %j is %j', (rule, text) => {
    expect(grantText(rule, say)).toBe(text);
  });

  test.each([
    ['grant 7', true],
    ['Ads', false],
    ['grant of a list', false],
    [null, false],
  ])('isGrant() for the source %j is %j', (source, isOne) => {
    expect(isGrant(source)).toBe(isOne);
  });
});
