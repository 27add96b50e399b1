import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGLISH_FAULTS } from '../../../../../shared/api/client/faults/fault-lines.ts';
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { translatedFault } from './translated-fault.ts';

const FILES = readdirSync(import.meta.dirname).filter((file) => /^fault-texts\.\w+\.json$/.test(file));
const LANGUAGES = readdirSync(join(import.meta.dirname, '../../i18n')).flatMap(
  (file) => /^(\w+)\.json$/.exec(file)?.[1] ?? [],
);
const read = (language: string): FaultTexts =>
  JSON.parse(readFileSync(join(import.meta.dirname, `fault-texts.${language}.json`), 'utf8')) as FaultTexts;

/** Parameters that translations may leave out: ids, types of JSON, and English reasons. */
const OPTIONAL = [
  ...['client', 'group', 'groups', 'head', 'kind', 'main', 'newest', 'service', 'source'],
  ...['part', 'reason', 'type'],
];

const placesOf = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort();

test('each language of the dashboard except English has a file for API errors', () => {
  expect(FILES.map((file) => file.split('.')[1]!).sort()).toEqual(
    LANGUAGES.filter((language) => language !== 'en').sort(),
  );
});

describe.each(LANGUAGES.filter((language) => language !== 'en'))('the API error texts in %s', (language) => {
  const texts = read(language);

  test.each(['lines', 'forms'] as const)('have the codes of the English %s, in the same order', (kind) => {
    expect(Object.keys(texts[kind])).toEqual(Object.keys(ENGLISH_FAULTS[kind]));
    expect(Object.entries(texts[kind]).filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  test.each(['lines', 'forms'] as const)('have the parameters of the English %s', (kind) => {
    const english: Readonly<Record<string, string>> = ENGLISH_FAULTS[kind];
    for (const [code, text] of Object.entries(texts[kind])) {
      const [places, inEnglish] = [placesOf(text), placesOf(english[code]!)];
      expect([code, places.filter((place) => !inEnglish.includes(place))]).toEqual([code, []]);
      const missing = inEnglish.filter((place) => !places.includes(place) && !OPTIONAL.includes(place));
      expect([code, missing]).toEqual([code, []]);
    }
  });

  test('translate all errors', () => {
    const same = Object.entries(texts.lines).filter(
      ([code, text]) => text === (ENGLISH_FAULTS.lines as Readonly<Record<string, string>>)[code],
    );
    expect(same).toEqual([]);
  });
});

test.each(LANGUAGES)(
  'the message catalogue %s has no single text for all rejected requests, whose reasons differ',
  (language) => {
    const file = join(import.meta.dirname, `../../i18n/${language}.json`);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)).not.toContain('problem.forbidden');
  },
);

describe('translatedFault(), an API error in the language of the user,', () => {
  const german = read('de');

  test.each([
    ['expected an IPv4 or IPv6 address', 'Erwartet: eine IPv4- oder IPv6-Adresse'],
    ['must have at most 63 characters', 'Zu lang: höchstens 63 Zeichen'],
    ['the role viewer can only read', 'Mit der Rolle „Nur ansehen“ ist das nicht erlaubt'],
    ['missing; expected a string', 'Hier fehlt eine Angabe; erwartet: ein Text'],
    ['expected a list, got a string', 'Erwartet: eine Liste; angegeben: ein Text'],
    ['a group named "Kids <b>" already exists', 'Eine Gruppe namens „Kids <b>“ gibt es schon'],
    [
      'expected a network such as 192.0.2.0/24 or 2001:db8::/32',
      'Erwartet: ein Netz wie 192.0.2.0/24 oder 2001:db8::/32',
    ],
    [
      'expected a whole number from 0 to 86400 (seconds), got "x"',
      'Erwartet: eine ganze Zahl von 0 bis 86400 (Sekunden); angegeben: "x"',
    ],
    [
      'expected "nxdomain", "nodata" or "refused", got "quiet"',
      'Erwartet: "nxdomain", "nodata" oder "refused"; angegeben: "quiet"',
    ],
    [
      'expected a list of at least 1 string, got an empty list',
      'Erwartet: eine Liste mit mindestens 1 Text; angegeben: eine leere Liste',
    ],
  ])('translates %j', (line, text) => {
    expect(translatedFault(line, german)).toBe(text);
  });

  test('translates a reason within a line, or leaves it to the caller', () => {
    const line = 'acme.example cannot be reached: no route';
    expect(translatedFault(line, german)).toBe('acme.example ist nicht erreichbar: no route');
    expect(translatedFault(line, german, () => 'keine Route')).toBe(
      'acme.example ist nicht erreichbar: keine Route',
    );
    expect(translatedFault('a.yaml, line 3: the file is too large', german)).toBe(
      'a.yaml, Zeile 3: Die Datei ist zu groß',
    );
  });

  test.each([
    ['a.example: the server reports: CAA forbids: x', 'a.example: der Server meldet: CAA forbids: x'],
    [
      '192.0.2.1:53 refused the update of example.org: it does not support updates',
      '192.0.2.1:53 lehnte die Änderung von example.org ab: er unterstützt keine Änderungen',
    ],
    ['a.yaml, line 3: not YAML (BAD_INDENT)', 'a.yaml, Zeile 3: kein YAML (BAD_INDENT)'],
    ['the zip file is damaged: x', 'Die zip-Datei ist beschädigt: x'],
  ])('translates "%s", although other error lines are similar', (line, text) => {
    expect(translatedFault(line, german)).toBe(text);
  });

  test('returns null for an error that is not a known API error', () => {
    expect(translatedFault('expected a miracle', german)).toBeNull();
  });
});
