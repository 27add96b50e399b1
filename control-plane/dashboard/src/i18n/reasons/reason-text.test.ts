import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { compileExpression } from '../../../../../shared/automata/expression.ts';
import { refuseRegexFilter } from '../../../../../shared/automata/regex-filter.ts';
import { LINE_REASONS, lineReason } from '../../../../../shared/policy/reasons/line-reasons.ts';
import { failureWithReasons, lineReasonText } from './reason-text.ts';

type Texts = Readonly<Record<string, string>>;

const read = (file: string): Texts =>
  JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Texts;
const LANGUAGES = readdirSync(join(import.meta.dirname, '..'))
  .flatMap((file) => /^(\w+)\.json$/.exec(file)?.[1] ?? [])
  .filter((language) => language !== 'en');
const german = read('line-reasons.de.json');

const placesOf = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

describe.each(LANGUAGES)('the reasons of lines in %s', (language) => {
  test('have a text for each code, with the same parameters', () => {
    const texts = read(`line-reasons.${language}.json`);
    expect(Object.keys(texts)).toEqual(Object.keys(LINE_REASONS));
    for (const [code, text] of Object.entries(LINE_REASONS)) {
      expect(texts[code]!.trim()).not.toBe('');
      expect([code, placesOf(texts[code]!)]).toEqual([code, placesOf(text)]);
    }
  });
});

describe('the text of a reason', () => {
  test('is that of the server in English', () => {
    expect(lineReasonText(lineReason('cosmetic'), null)).toBe('cosmetic rule');
  });

  test('is in the language of the texts, with the parameters of the server', () => {
    expect(lineReasonText(lineReason('modifier', { modifier: '$redirect' }), german)).toBe(
      'der Modifikator wird nicht unterstützt: $redirect',
    );
  });

  test('translates a reason in a reason', () => {
    const made = compileExpression('(?=a)b');
    const refused = lineReason('with_filters', { pattern: 'a', reason: 'reason' in made ? made.reason : '' });
    expect(lineReasonText(refused, german)).toBe(
      '`a` lässt sich nicht zusammen mit den anderen aktiven Regex-Regeln verwenden: ' +
        'ungültige oder nicht unterstützte Perl-Syntax: `(?=`',
    );
  });

  test('does not fill a place in a parameter', () => {
    expect(lineReasonText(lineReason('modifier', { modifier: '${modifier}' }), german)).toBe(
      'der Modifikator wird nicht unterstützt: ${modifier}',
    );
  });

  test.each(['', 'of no use', 'modifier', 'toString'])('is the given one for %j, which has no code', (text) =>
    expect(lineReasonText(text, german)).toBe(text),
  );
});

describe('a failed request', () => {
  const failureOf = (message: string): ApiFailure =>
    new ApiFailure('POST /regex-filters', new Response(null, { status: 400 }), {
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: message,
      error: 'invalid',
      errors: [{ path: 'pattern', message }],
    });

  test('has reasons in the language of the user, and status and paths as before', () => {
    const failure = failureWithReasons(failureOf(refuseRegexFilter('^')!), german);
    expect(failure).toMatchObject({
      status: 400,
      operation: 'POST /regex-filters',
      problem: {
        errors: [
          { path: 'pattern', message: 'sie passt auf jeden Namen; wenn das gewollt ist, schreibe .*' },
        ],
      },
    });
  });

  test('is the same without texts or without messages about fields', () => {
    const failure = failureOf('the pattern is empty');
    expect(failureWithReasons(failure, null)).toBe(failure);
    const other = new Error('failed');
    expect(failureWithReasons(other, german)).toBe(other);
  });
});
