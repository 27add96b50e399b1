/** Catalogues of all languages except English. */
import { describe, expect, test } from '@jest/globals';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Catalogue = Readonly<Record<string, string>>;

const read = (file: string): Catalogue =>
  JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Catalogue;
const LANGUAGES = readdirSync(import.meta.dirname).flatMap((file) => /^(\w+)\.json$/.exec(file)?.[1] ?? []);
const english = read('en.json');

/** Placeholders of a message by name, with the plural categories of each. */
function placesOf(message: unknown, found = new Map<string, Set<string>>()): Map<string, Set<string>> {
  if (!Array.isArray(message)) return found;
  for (const part of message as unknown[]) {
    if (!Array.isArray(part)) continue;
    const [name, , choices] = part as [string, string?, unknown?];
    const categories = found.get(name) ?? new Set();
    found.set(name, categories);
    if (typeof choices !== 'object' || choices === null) continue;
    for (const [category, text] of Object.entries(choices)) {
      categories.add(category);
      placesOf(text, found);
    }
  }
  return found;
}

/** Sorted names of a text's placeholders. */
function namesIn(text: string): string {
  return [...placesOf(compileMessage(text)).keys()]
    .filter((name) => name !== '#')
    .sort()
    .join();
}

/** Terms of the glossaries that have a single meaning in the English texts. */
const TERMS = [
  ...['blocklist', 'allowlist', 'device', 'upstream', 'cache', 'query log', 'audit log', 'password'],
  ...['schedule', 'node', 'certificate'],
];

/** The text without the names of its placeholders. */
const wordsOf = (text: string): string => text.replaceAll(/\{\w+/g, '{');

describe.each(LANGUAGES)('the message catalogue %s', (language) => {
  const catalogue = read(`${language}.json`);

  test('has exactly the keys of the English catalogue, in the same order', () => {
    expect(Object.keys(catalogue)).toEqual(Object.keys(english));
    expect(Object.entries(catalogue).filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  test('has the placeholders of the English texts', () => {
    const differing = Object.keys(english).filter(
      (key) => namesIn(catalogue[key]!) !== namesIn(english[key]!),
    );
    expect(differing).toEqual([]);
  });

  test('has only the plural categories of its language, and `other` in each case', () => {
    const known = new Set<string>(new Intl.PluralRules(language).resolvedOptions().pluralCategories);
    const faulty = Object.entries(catalogue).filter(([, text]) =>
      [...placesOf(compileMessage(text)).values()].some(
        (categories) =>
          categories.size > 0 &&
          (!categories.has('other') ||
            [...categories].some(
              (category) => /^(zero|one|two|few|many)$/.test(category) && !known.has(category),
            )),
      ),
    );
    expect(faulty).toEqual([]);
  });
});

describe.each(LANGUAGES.filter((language) => language !== 'en'))(
  'the terms in the catalogue %s',
  (language) => {
    const catalogue = read(`${language}.json`);

    test.each(TERMS)("contain the glossary's word for %s", (term) => {
      const glossary = JSON.parse(
        readFileSync(join(import.meta.dirname, 'glossary', `${language}.json`), 'utf8'),
      ) as Readonly<Record<string, readonly string[]>>;
      const has = (text: string, word: string): boolean => text.toLowerCase().includes(word.toLowerCase());
      const others = Object.entries(english).filter(
        ([key, text]) =>
          new RegExp(`\\b${term}s?\\b`, 'i').test(wordsOf(text)) &&
          !glossary[term]!.some((form) => has(catalogue[key]!.replaceAll('\u00a0', ' '), form)),
      );
      expect(others.map(([key]) => [key, catalogue[key]])).toEqual([]);
    });
  },
);
