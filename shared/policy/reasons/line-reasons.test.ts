import { describe, expect, test } from '@jest/globals';
import { compileExpression } from '../../automata/expression.ts';
import { LINE_REASONS, type LineReasonCode, readLineReason } from './line-reasons.ts';
import { fillText } from './reason-texts.ts';

const CODES = Object.entries(LINE_REASONS) as [LineReasonCode, string][];

describe('readLineReason(), which parses the reason for a rejected list line,', () => {
  test.each(CODES)('returns code and parameters of %s', (code, text) => {
    const params: Record<string, string> = {};
    const filled = fillText(text, (name) => (params[name] = `a "${name}": \n{code}; `));
    expect(readLineReason(filled)).toEqual({ code, params });
  });

  test.each(CODES)('returns %s with empty parameters', (code, text) => {
    expect(readLineReason(fillText(text, () => ''))?.code).toBe(code);
  });

  test.each([
    ['(', 'syntax_open', '(?i)('],
    ['a)', 'syntax_closed', '(?i)a)'],
    ['[a', 'syntax_bracket', '[a'],
    ['[z-a]', 'syntax_range', 'z-a'],
    ['(a)\\1', 'syntax_escape', '\\1'],
    ['(?<!a)b', 'syntax_capture', '(?<!a)b'],
    ['(?=a)b', 'syntax_perl', '(?='],
    ['a**', 'syntax_nested_repeat', '**'],
    ['a{1001}', 'syntax_repeat', '{1001}'],
    ['*a', 'syntax_argument', '*'],
    ['(?P<n>a)(?P<n>b)', 'syntax_duplicate', 'n'],
  ])('returns why %s is not a valid regular expression', (pattern, code, text) => {
    const made = compileExpression(pattern);
    expect(readLineReason('reason' in made ? made.reason : '')).toEqual({ code, params: { text } });
  });

  test.each(['a\\', `${'('.repeat(1001)}a${')'.repeat(1001)}`])(
    'has a code for the syntax error in %s',
    (pattern) => {
      const made = compileExpression(pattern);
      expect('reason' in made && readLineReason(made.reason)).toMatchObject({
        code: expect.stringMatching(/^syntax_(?:backslash|depth)$/),
      });
    },
  );

  test.each(['', 'no reason', 'toString', '$dnstype with'])('returns null for %j', (text) =>
    expect(readLineReason(text)).toBeNull(),
  );
});
