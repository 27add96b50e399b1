import { describe, expect, test } from '@jest/globals';
import { CONFIG_KEYS } from './config-key.ts';
import german from './config-help.de.json' with { type: 'json' };
import { helpIn } from './help-language.ts';

describe('helpIn()', () => {
  const [entry] = CONFIG_KEYS;
  const timed = CONFIG_KEYS.find(({ key }) => key === 'cache.min_ttl_secs')!;

  test('speaks the language of the file, and English where it is silent', () => {
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

  test('is English without a file', () => {
    expect(helpIn('en', null).unitOf(timed)).toBe('seconds');
  });
});

describe('the German help', () => {
  test('says something of each key and each unit, and of nothing else', () => {
    expect(Object.keys(german.help).sort()).toEqual(CONFIG_KEYS.map(({ key }) => key).sort());
    const units = new Set(CONFIG_KEYS.flatMap(({ unit }) => unit ?? []));
    expect(Object.keys(german.units).sort()).toEqual([...units].sort());
  });
});
