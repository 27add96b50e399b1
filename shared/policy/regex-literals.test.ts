import { describe, expect, test } from '@jest/globals';
import { RE2JS } from 're2js';
import fc from '../../test/support/parts/fast-check.ts';
import { requiredLiterals } from './regex-literals.ts';

describe('requiredLiterals(), the texts that every match contains,', () => {
  test.each([
    ['ads', ['ads']],
    ['ADS', ['ads']],
    ['ads\\.example', ['ads.example']],
    ['^ads\\-\\_1$', ['ads-_1']],
    ['a\\d+tracker', ['tracker']],
    ['ads.*tracker', ['tracker']],
    ['(ads|track)er', ['ads', 'track']],
    ['(?:ads|track)1*', ['ads', 'track']],
    ['(?P<n>ads)', ['ads']],
    ['(?<n>ads)', ['ads']],
    ['(ads)?tr', ['tr']],
    ['(ads){0,3}tr', ['tr']],
    ['(ads){2}t', ['ads']],
    ['ad?sense', ['sense']],
    ['ads+ense', ['ense']],
    ['ab{2,3}cde', ['cde']],
    ['ab*cd', ['cd']],
    ['[abc]ads', ['ads']],
    ['[]x]ads', ['ads']],
    ['[^]x]ads', ['ads']],
    ['[\\]x]ads', ['ads']],
    ['[[:alpha:]]ads', ['ads']],
    ['(abc|a)defg', ['defg']],
    ['a ~d', ['a ~d']],
    ['abcd(x|yz)', ['abcd']],
  ])('of %s is %j', (pattern, literals) => {
    expect(requiredLiterals(pattern)).toEqual(literals);
  });

  test.each([
    ['a class only', '[a-z]+'],
    ['what may be left out', 'a?b*'],
    ['a branch without literals', 'ads|[a-z]'],
    ['an escape that it does not know', 'ads\\pL'],
    ['a byte as a number', '\\x41ds'],
    ['a back slash at the end', 'ads\\'],
    ['an open class', 'ads[a'],
    ['an open class of letters', 'ads[[:alpha'],
    ['an open group', '(ads'],
    ['a closing bracket too many', 'ads)x'],
    ['flags', '(?i)ads'],
    ['flags of a group', '(?i:ads)'],
    ['braces without a count', 'ads{x}'],
    ['a letter beyond ASCII', 'bücher'],
    ['an escaped letter beyond ASCII', 'ads\\ü'],
    ['a control character', 'ads\u0001'],
    ['groups 60 deep', `${'('.repeat(60)}ads${')'.repeat(60)}`],
    ['33 alternatives', Array.from({ length: 33 }, (_, at) => `a${at}`).join('|')],
  ])('is empty for %s', (_what, pattern) => {
    expect(requiredLiterals(pattern)).toBeNull();
  });

  test('supports 32 alternatives, and groups nested 50 deep', () => {
    const many = Array.from({ length: 32 }, (_, at) => `a${at}`);
    expect(requiredLiterals(many.join('|'))).toEqual(many);
    expect(requiredLiterals(`${'('.repeat(50)}ads${')'.repeat(50)}`)).toEqual(['ads']);
  });

  test('are contained in every match', () => {
    const part = fc.constantFrom('a', 'b', 'ab', '\\.', '[ab]', '(a|b)', '(ab|ba)', '.', '\\d', '(?:b)');
    const repeat = fc.constantFrom('', '', '?', '*', '+', '{2}', '{0,2}', '{1,}');
    const branch = fc
      .array(fc.tuple(part, repeat), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.flat().join(''));
    const pattern = fc.array(branch, { minLength: 1, maxLength: 2 }).map((branches) => branches.join('|'));
    const name = fc.array(fc.constantFrom('a', 'b', '.', '1'), { maxLength: 8 }).map((all) => all.join(''));
    fc.assert(
      fc.property(pattern, name, (source, text) => {
        const literals = requiredLiterals(source);
        if (literals === null || !RE2JS.compile(source).matcher(text).find()) return;
        expect(literals.some((literal) => text.includes(literal))).toBe(true);
      }),
      { numRuns: 2000, seed: 13 },
    );
  });
});
