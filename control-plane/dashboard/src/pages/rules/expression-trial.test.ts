import { describe, expect, test } from '@jest/globals';
import { tryExpression } from './expression-trial.ts';

describe('tryExpression(), which tests a regex on a name,', () => {
  test.each([
    ['^ads?[0-9]+\\.', 'AD12.example.', true],
    ['^ads?[0-9]+\\.', 'x.ad12.example', false],
    ['tracker', 'my-tracker.example', true],
    ['\\.test$', 'a.test', true],
    ['\\.test$', 'a.test.example', false],
    ['\\bads\\b', 'x.ads', true],
    ['\\bads\\b', 'xads.example', false],
  ])('matches %s with %s: %s', (pattern, name, matches) => {
    expect(tryExpression(pattern, name)).toEqual({ matches });
  });

  test('returns the reason why a regular expression is invalid', () => {
    expect(tryExpression('(?=x)', 'x')).toHaveProperty('reason');
    expect(tryExpression('(', 'x')).toHaveProperty('reason');
  });
});
