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

describe('CONFIG_KEYS', () => {
  test('belong to existing sections', () => {
    expect(new Set(CONFIG_KEYS.map(sectionOf))).toEqual(new Set(CONFIG_SECTIONS));
  });
});

describe('isBasic()', () => {
  test('chooses a few keys of each section', () => {
    const basic = CONFIG_KEYS.filter(isBasic);
    expect(new Set(basic.map(sectionOf))).toEqual(new Set(CONFIG_SECTIONS));
    expect(basic.length).toBeLessThan(CONFIG_KEYS.length / 3);
    expect(basic.map(({ key }) => key)).not.toContain('dns.udp_coalesce_us');
  });

  test('names only keys that exist', () => {
    expect(BASIC_KEYS.filter((name) => !CONFIG_KEYS.some(({ key }) => key === name))).toEqual([]);
  });
});

describe('valueOf()', () => {
  test('reads a key below sections, or undefined if it is missing', () => {
    const config = { dns: { rate_limit: { enabled: true } } } as unknown as Config;
    expect(valueOf(config, 'dns.rate_limit.enabled')).toBe(true);
    expect(valueOf(config, 'auth.oidc.client_secret')).toBeUndefined();
  });
});

describe('changeOf()', () => {
  test('writes a key below its sections', () => {
    expect(changeOf('dns.rate_limit.enabled', null)).toEqual({ dns: { rate_limit: { enabled: null } } });
  });
});

describe('findKeys()', () => {
  test('finds keys by words of the name and the help, in any order', () => {
    const helpOf = ({ key }: ConfigKey): string => (key === 'cache.enabled' ? 'Behält Antworten' : '');
    const found = (search: string): string[] => findKeys(search, helpOf).map(({ key }) => key);
    expect(found('RATE enabled')).toContain('dns.rate_limit.enabled');
    expect(found('audit log kept')).toEqual(['database.audit_days']);
    expect(found('behält')).toEqual(['cache.enabled']);
    expect(found('no such thing anywhere')).toEqual([]);
  });
});

describe('valueOfText()', () => {
  test('converts a list to lines and back', () => {
    expect(valueOfText(LIST, ' 192.0.2.1\n\n192.0.2.2 ')).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(textOfValue(['192.0.2.1', '192.0.2.2'])).toBe('192.0.2.1\n192.0.2.2');
  });

  test('keeps an invalid number as text, for the server to refuse', () => {
    expect(valueOfText(NUMBER, ' 12 ')).toBe(12);
    expect(valueOfText(NUMBER, '12 MB')).toBe('12 MB');
  });
});
