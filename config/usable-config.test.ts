import { describe, expect, test } from '@jest/globals';
import { usableConfig } from './usable-config.ts';

const use = (text: string, env: Record<string, string> = {}) =>
  usableConfig({ file: { name: 'weir.toml', text }, env });

describe('usableConfig()', () => {
  test.each([
    ['a value of the wrong type', '[server]\ndata_dir = "/d"\nweb_port = "8081"\ndns_port = 5300\n'],
    ['an unknown key', '[server]\nbogus = 1\ndata_dir = "/d"\ndns_port = 5300\n'],
    ['a line that is not TOML', '[server]\ndata_dir = "/d"\nweb_port 8081\ndns_port = 5300\n'],
    ['a duplicate key', '[server]\ndata_dir = "/d"\ndata_dir = "/e"\ndns_port = 5300\n'],
    ['a string without an end', '[server]\ndata_dir = "/d"\ndns_port = 5300\n[dns]\nlocal_domain = """lan\n'],
    [
      'keys that contradict each other',
      '[server]\ndata_dir = "/d"\ndns_port = 5300\n[cache]\nmin_ttl_secs = 90000\n',
    ],
  ])('keeps all valid keys despite %s', (_what, text) => {
    const { config, explicit, isDataDirKnown } = use(text);
    expect(config.server).toMatchObject({ data_dir: '/d', dns_port: 5300, web_port: 8080 });
    expect([explicit.has('server.dns_port'), isDataDirKnown]).toEqual([true, true]);
  });

  test.each([
    ['the value of the key has the wrong type', '[server]\ndata_dir = 5\n'],
    ['the line of the key is not TOML', '[server]\ndata_dir = /d\n'],
    ['the section of the key is not TOML', '[server\ndata_dir = "/d"\n'],
    ['an inline table is not TOML', 'server = { data_dir = "/d", web_port }\n'],
  ])('reports the data directory as unknown if %s', (_what, text) => {
    expect(use(text).isDataDirKnown).toBe(false);
    expect(use(text, { WEIR_SERVER_DATA_DIR: '/e' })).toMatchObject({
      isDataDirKnown: true,
      config: { server: { data_dir: '/e' } },
    });
  });

  test('finds the default data directory even if everything else in the file is invalid', () => {
    expect(use('#data_dir = "/d"\n]]]\n')).toMatchObject({
      isDataDirKnown: true,
      config: { server: { data_dir: './data' } },
    });
  });
});
