import { describe, expect, test } from '@jest/globals';
import {
  BASIC_KEYS,
  changeOf,
  CONFIG_KEYS,
  CONFIG_SECTIONS,
  findKeys,
  isBasic,
  sectionOf,
  textOfValue,
  valueOf,
  valueOfText,
} from './config-key.ts';
import type { Config, ConfigKey } from './config-key.ts';

const LIST: ConfigKey = { key: 'dns.bootstrap', kind: 'list', help: '' };
const NUMBER: ConfigKey = { key: 'cache.max_bytes', kind: 'number', help: '' };

describe('CONFIG_KEYS, the configuration keys in the dashboard,', () => {
  test('belong to existing sections', () => {
    expect(new Set(CONFIG_KEYS.map(sectionOf))).toEqual(new Set(CONFIG_SECTIONS));
  });
});

describe('isBasic(), whether a key is shown by default,', () => {
  test('is true for less than a third of the keys, among them keys of every section', () => {
    const basic = CONFIG_KEYS.filter(isBasic);
    expect(new Set(basic.map(sectionOf))).toEqual(new Set(CONFIG_SECTIONS));
    expect(basic.length).toBeLessThan(CONFIG_KEYS.length / 3);
    expect(basic.map(({ key }) => key)).not.toContain('dns.udp_coalesce_us');
  });

  test('refers only to keys that exist', () => {
    expect(BASIC_KEYS.filter((name) => !CONFIG_KEYS.some(({ key }) => key === name))).toEqual([]);
  });
});

describe('valueOf(), the value of a configuration key,', () => {
  test('is found below its sections, or undefined if it is missing', () => {
    const config = { dns: { rate_limit: { enabled: true } } } as unknown as Config;
    expect(valueOf(config, 'dns.rate_limit.enabled')).toBe(true);
    expect(valueOf(config, 'auth.oidc.client_secret')).toBeUndefined();
  });
});

describe('changeOf(), the change of a configuration key,', () => {
  test('contains the key below its sections', () => {
    expect(changeOf('dns.rate_limit.enabled', null)).toEqual({ dns: { rate_limit: { enabled: null } } });
  });
});

describe('findKeys(), the search for configuration keys,', () => {
  test('finds configuration keys by words of the name and the help, in any order', () => {
    const helpOf = ({ key }: ConfigKey): string => (key === 'cache.enabled' ? 'Behält Antworten' : '');
    const found = (search: string): string[] => findKeys(search, helpOf).map(({ key }) => key);
    expect(found('RATE enabled')).toContain('dns.rate_limit.enabled');
    expect(found('audit log kept')).toEqual(['database.audit_days']);
    expect(found('behält')).toEqual(['cache.enabled']);
    expect(found('no such thing anywhere')).toEqual([]);
  });
});

describe('valueOfText(), the value entered for a key,', () => {
  test('is a list for several lines, and converted back to lines', () => {
    expect(valueOfText(LIST, ' 192.0.2.1\n\n192.0.2.2 ')).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(textOfValue(['192.0.2.1', '192.0.2.2'])).toBe('192.0.2.1\n192.0.2.2');
  });

  test('is the text of an invalid number, so that the server rejects it', () => {
    expect(valueOfText(NUMBER, ' 12 ')).toBe(12);
    expect(valueOfText(NUMBER, '12 MB')).toBe('12 MB');
  });
});
