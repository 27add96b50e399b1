import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { compileExpression } from '../../../../../shared/automata/expression.ts';
import { refuseRegexFilter } from '../../../../../shared/automata/regex-filter.ts';
import {
  IMPORT_REASONS,
  importReason,
  joinReasons,
  plainReason,
} from '../../../../../shared/policy/reasons/import-reasons.ts';
import { ITEM_NAMES, itemName } from '../../../../../shared/policy/reasons/item-names.ts';
import { LINE_REASONS, lineReason } from '../../../../../shared/policy/reasons/line-reasons.ts';
import { fillText } from '../../../../../shared/policy/reasons/reason-texts.ts';
import { importReasonText, itemNameText } from './import-reason-text.ts';
import { failureWithReasons, lineReasonText } from './reason-text.ts';

type Texts = Readonly<Record<string, string>>;

const read = (file: string): Texts =>
  JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Texts;
const LANGUAGES = readdirSync(join(import.meta.dirname, '..'))
  .flatMap((file) => /^(\w+)\.json$/.exec(file)?.[1] ?? [])
  .filter((language) => language !== 'en');
const german = read('line-reasons.de.json');

const placesOf = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

describe.each(LANGUAGES)('the translations of reasons in %s', (language) => {
  test.each([
    ['lines', `line-reasons.${language}.json`, LINE_REASONS],
    ['imports', `import-reasons.${language}.json`, IMPORT_REASONS],
    ['names of items', `item-names.${language}.json`, ITEM_NAMES],
  ])('cover each code of %s, with the same parameters', (_of, file, english) => {
    const texts = read(file);
    expect(Object.keys(texts)).toEqual(Object.keys(english));
    for (const [code, text] of Object.entries(english)) {
      expect(texts[code]!.trim()).not.toBe('');
      expect([code, placesOf(texts[code]!)]).toEqual([code, placesOf(text)]);
    }
  });
});

describe('lineReasonText(), the reason for a rejected list line,', () => {
  test("is the server's text in English", () => {
    expect(lineReasonText(lineReason('cosmetic'), null)).toBe('cosmetic rule');
  });

  test('is in the language of the user, with the parameters of the server', () => {
    expect(lineReasonText(lineReason('modifier', { modifier: '$redirect' }), german)).toBe(
      'der Modifikator wird nicht unterstützt: $redirect',
    );
  });

  test('translates a reason within a reason', () => {
    const made = compileExpression('(?=a)b');
    const refused = lineReason('with_filters', { pattern: 'a', reason: 'reason' in made ? made.reason : '' });
    expect(lineReasonText(refused, german)).toBe(
      '`a` lässt sich nicht zusammen mit den anderen aktiven Regex-Regeln verwenden: ' +
        'ungültige oder nicht unterstützte Perl-Syntax: `(?=`',
    );
  });

  test('does not expand a placeholder within a parameter', () => {
    expect(lineReasonText(lineReason('modifier', { modifier: '${modifier}' }), german)).toBe(
      'der Modifikator wird nicht unterstützt: ${modifier}',
    );
  });

  test.each(['', 'of no use', 'modifier', 'toString'])('is unchanged for %j, which has no code', (text) =>
    expect(lineReasonText(text, german)).toBe(text),
  );
});

describe('the text of the reasons in an import report', () => {
  const texts = {
    line: german,
    import: read('import-reasons.de.json'),
    names: read('item-names.de.json'),
    faults: JSON.parse(
      readFileSync(join(import.meta.dirname, '../../api/faults/fault-texts.de.json'), 'utf8'),
    ) as FaultTexts,
  };

  test.each([
    ['name: must have at most 200 characters', 'name: Zu lang: höchstens 200 Zeichen'],
    ['domain: expected a domain name', 'domain: Erwartet: ein Domainname'],
    [
      importReason('bad_value', { expected: 'an IPv4 address' }),
      'der Wert ist ungültig (erwartet: eine IPv4-Adresse)',
    ],
    ['dns.ecs: forward', 'dns.ecs: forward'],
  ])('translates the fault of a value: %s', (reason, text) => {
    expect(importReasonText(reason, texts)).toBe(text);
  });

  test("is the server's text in English", () => {
    expect(importReasonText(importReason('already_there'), null)).toBe('already in Weir');
  });

  test('has all reasons in the language of the user, with the values of the server', () => {
    const reason = joinReasons(
      importReason('pihole_denies'),
      importReason('pihole_rejected', { reason: importReason('pihole_unknown_option', { option: 'x' }) }),
      lineReason('every_name_regex'),
      plainReason('dns.ecs = "forward"'),
    );
    expect(importReasonText(reason, texts)).toBe(
      'blockiert; auch Pi-hole lehnt es ab, es ist dort also nicht aktiv: unbekannte Option x; ' +
        'sie passt auf jeden Namen; wenn das gewollt ist, schreibe .*; dns.ecs = "forward"',
    );
  });

  test.each(Object.entries(IMPORT_REASONS))('is translated for the import reason %s', (code, english) => {
    const filled = fillText(english, () => 'x');
    const translated = fillText(texts.import[code]!, () => 'x');
    expect(importReasonText(filled, texts)).toBe(translated);
  });
});

describe('itemNameText(), the name of an item in an import report,', () => {
  const names = read('item-names.de.json');
  const texts = { line: german, import: {}, names, faults: { lines: {}, forms: {} } as FaultTexts };

  test('is the English name without texts, and a name from the imported file is unchanged', () => {
    expect(itemNameText(itemName('denied_names'), null)).toBe('denied names');
    expect(itemNameText('denied.example', texts)).toBe('denied.example');
  });

  test.each(Object.entries(ITEM_NAMES))('is translated for %s', (code, english) => {
    const filled = (text: string): string => fillText(text, () => '7');
    expect(itemNameText(filled(english), texts)).toBe(filled(names[code]!));
  });
});

describe('failureWithReasons(), the translation of a failed request,', () => {
  const failureOf = (message: string): ApiFailure =>
    new ApiFailure('POST /regex-filters', new Response(null, { status: 400 }), {
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: message,
      error: 'invalid',
      errors: [{ path: 'pattern', message }],
    });

  test('has reasons in the language of the user, and the original status and paths', () => {
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

  test('returns the same error without texts or without messages about fields', () => {
    const failure = failureOf('the pattern is empty');
    expect(failureWithReasons(failure, null)).toBe(failure);
    const other = new Error('failed');
    expect(failureWithReasons(other, german)).toBe(other);
  });
});
