import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_KEYS } from './config-key.ts';
import { helpIn } from './help-language.ts';
import type { HelpFile } from './help-language.ts';

const FILES = readdirSync(import.meta.dirname).filter((file) => /^config-help\.\w+\.json$/.test(file));

describe('helpIn(), the help of configuration keys,', () => {
  const [entry] = CONFIG_KEYS;
  const timed = CONFIG_KEYS.find(({ key }) => key === 'cache.min_ttl_secs')!;

  test('uses the texts of the language file, and English for missing texts', () => {
    const help = helpIn('de', { units: { seconds: 'Sekunden' }, help: { [entry!.key]: 'Port.' } });
    expect([help.textOf(entry!), help.languageOf(entry!), help.unitOf(entry!)]).toEqual([
      'Port.',
      'de',
      null,
    ]);
    expect([help.textOf(timed), help.languageOf(timed), help.unitOf(timed)]).toEqual([
      timed.help,
      'en',
      'Sekunden',
    ]);
  });

  test('is in English without a language file', () => {
    expect(helpIn('en', null).unitOf(timed)).toBe('seconds');
  });
});

describe('the help of configuration keys', () => {
  test.each(FILES)('in %s has a text for each key and each unit, and no other texts', (file) => {
    const { help, units } = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as HelpFile;
    expect(Object.keys(help).sort()).toEqual(CONFIG_KEYS.map(({ key }) => key).sort());
    expect(Object.keys(units).sort()).toEqual(
      [...new Set(CONFIG_KEYS.flatMap(({ unit }) => unit ?? []))].sort(),
    );
  });
});
