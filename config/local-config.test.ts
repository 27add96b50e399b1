import { describe, expect, test } from '@jest/globals';
import type { ConfigFault } from './config-fault.ts';
import { effectiveLocal, localText, parseLocal, withLocal, type LocalConfig } from './local-config.ts';
import { parseConfig } from './parse-config.ts';

const NAME = 'weir.local.toml';

function parse(text: string): { local: LocalConfig; faults: ConfigFault[] } {
  const faults: ConfigFault[] = [];
  return { local: parseLocal({ name: NAME, text }, faults), faults };
}

const LOCAL: LocalConfig = {
  values: {
    'server.web_port': 8081,
    'dns.pools': [{ name: 'a "b"', servers: ['192.0.2.1'] }],
    'cache.max_bytes': undefined,
  },
  replaced: { 'server.web_port': 8080, 'cache.max_bytes': 4194304 },
};

describe('localText()', () => {
  test('returns a text that is read back unchanged, including values that were reset to their defaults', () => {
    const { local, faults } = parse(localText(LOCAL)!);
    expect([local, faults]).toEqual([LOCAL, []]);
    expect(Object.keys(local.values)).toContain('cache.max_bytes');
  });

  test('is empty if there are no local changes', () =>
    expect(localText({ values: {}, replaced: {} })).toBe(''));
});

describe('withLocal()', () => {
  const file = { 'server.web_port': 8080, 'cache.max_bytes': 4194304, 'server.site': 'home' };

  test('prefers local changes to the values of the file', () => {
    expect(withLocal(file, LOCAL)).toEqual({
      'server.web_port': 8081,
      'server.site': 'home',
      'dns.pools': LOCAL.values['dns.pools'],
    });
  });

  test.each([
    ['edited', { ...file, 'server.web_port': 9090 }, 9090],
    ['removed', { 'cache.max_bytes': 4194304 }, undefined],
  ])('uses the value in the file for a key that was later %s there', (_what, edited, port) => {
    expect(withLocal(edited, LOCAL)['server.web_port']).toBe(port);
    expect(Object.keys(effectiveLocal(LOCAL, edited).values)).toEqual(['dns.pools', 'cache.max_bytes']);
  });
});

describe('parseLocal()', () => {
  test.each([
    ['text that is not TOML', '[server', 'syntax'],
    ['an unknown key', '[server]\nnonsense = 1\n', 'server.nonsense'],
    ['an invalid value', '[server]\nweb_port = "x"\n', 'server.web_port'],
    ['a key that only the file may set', '[server]\ndata_dir = "/etc"\n', 'server.data_dir'],
    ['a key of the database connection', '[database]\nurl = ["postgres://a@192.0.2.1/b"]\n', 'database.url'],
    ['bookkeeping that Weir has not written', "[weir]\nreplaced = '[1'\n", 'weir'],
    ['bookkeeping of another type', '[weir]\ndefaults = "[1]"\n', 'weir'],
  ])('reports %s by its key', (_what, text, key) => {
    expect(parse(text).faults).toMatchObject([{ source: NAME, key }]);
  });

  test('refuses to reset a key that can only be set in the file', () => {
    const { local } = parse(`[weir]\ndefaults = '["database.url"]'\n`);
    expect(local.values).toEqual({});
  });
});

describe('parseConfig() with local changes', () => {
  const file = { name: 'weir.toml', text: '[server]\nweb_port = 8080\n[cache]\nmin_ttl_secs = 5\n' };
  const local = (values: LocalConfig['values'], replaced: LocalConfig['replaced']) => ({
    name: NAME,
    text: localText({ values, replaced })!,
  });

  test('applies local changes over the file, and environment variables over local changes', () => {
    const changes = local({ 'server.web_port': 8081, 'server.dns_port': 5353 }, { 'server.web_port': 8080 });
    const result = parseConfig({ file, local: changes, env: { WEIR_SERVER_DNS_PORT: '5454' } });
    expect(result).toMatchObject({
      ok: true,
      value: {
        config: { server: { web_port: 8081, dns_port: 5454 }, cache: { min_ttl_secs: 5 } },
        given: { local: ['server.web_port', 'server.dns_port'] },
      },
    });
  });

  test('reports a local change that contradicts another value, and names the changed key', () => {
    const result = parseConfig({ file, local: local({ 'cache.max_ttl_secs': 4 }, {}), env: {} });
    expect(result).toMatchObject({ ok: false, faults: [{ key: expect.stringMatching(/_ttl_secs/) }] });
  });
});
