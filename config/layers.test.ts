import { describe, expect, test } from '@jest/globals';
import {
  clusterValues,
  configOf,
  decidingValues,
  differingKeys,
  isNodeKey,
  isSameValue,
  KEY_NAMES,
  nodeDifferences,
  nodeValues,
  sourceOf,
  valuesOf,
} from './layers.ts';

describe('isNodeKey()', () => {
  test('is true only for keys that each node of a cluster sets for itself', () => {
    const ofNode = KEY_NAMES.filter((name) => isNodeKey(name) && !/^(?:server|logging)\./.test(name));
    expect(ofNode.sort()).toEqual([
      'auth.admin.password_hash',
      'auth.oidc.client_secret_file',
      'blocking.list_dirs',
      'cache.max_bytes',
      'database.export_dir',
      'database.owner_password_file',
      'database.owner_url',
      'database.password_file',
      'database.sslmode',
      'database.sslrootcert',
      'database.url',
      'dns.dhcp_leases',
      'dns.dnssec_trust_anchors',
      'dns.upstream_ca_path',
    ]);
    expect(KEY_NAMES.filter((name) => /_path$|_dir$|_dirs$|_file$/.test(name) && !isNodeKey(name))).toEqual(
      [],
    );
  });
});

describe('isSameValue()', () => {
  test.each([
    [[{ name: 'a', servers: ['b'] }], [{ servers: ['b'], name: 'a' }], true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [['a', 'b'], ['b', 'a'], false],
    [['a'], ['a', 'b'], false],
    [[], {}, false],
    [0, false, false],
    ['', undefined, false],
    [{ a: { b: 1 } }, { a: { b: 2 } }, false],
  ])('of %j and %j is %s', (left, right, expected) => {
    expect(isSameValue(left, right)).toBe(expected);
    expect(isSameValue(right, left)).toBe(expected);
  });
});

describe('decidingValues()', () => {
  const layers = {
    file: { 'server.workers': 2, 'cache.min_ttl_secs': 1, 'cache.max_bytes': 2097152 },
    rows: { 'cache.min_ttl_secs': 2, 'cache.max_ttl_secs': 3, 'dns.ecs': 'strip' },
    environment: { 'dns.ecs': 'forward' },
  };

  test('prefers environment variables, then database rows for cluster keys and the file for node keys', () => {
    expect(decidingValues(layers)).toEqual({
      'server.workers': 2,
      'cache.max_bytes': 2097152,
      'cache.min_ttl_secs': 2,
      'cache.max_ttl_secs': 3,
      'dns.ecs': 'forward',
    });
    const names = ['server.workers', 'cache.min_ttl_secs', 'dns.ecs', 'blocking.mode', 'logging.level'];
    expect(names.map((name) => sourceOf(layers, name))).toEqual([
      'file',
      'database',
      'environment',
      'default',
      'default',
    ]);
  });

  test('returns values that configOf() turns into a configuration or a report of their faults', () => {
    const made = configOf(decidingValues(layers));
    expect('config' in made && made.config.cache).toMatchObject({ min_ttl_secs: 2, max_ttl_secs: 3 });
    const faults = configOf({ 'cache.min_ttl_secs': 5, 'cache.max_ttl_secs': 4 });
    expect(faults).toMatchObject({ faults: [{ key: 'cache.min_ttl_secs' }] });
  });
});

describe('valuesOf()', () => {
  test('returns the values of the known keys in a parsed file; clusterValues() keeps those of cluster keys', () => {
    const values = valuesOf({
      server: { web_port: 1, web_tls: { enabled: true }, nonsense: 1 },
      dns: { pools: [{ name: 'a' }], health_check: {} },
      other: 1,
    });
    expect(values).toEqual({
      'server.web_port': 1,
      'server.web_tls.enabled': true,
      'dns.pools': [{ name: 'a' }],
    });
    expect(clusterValues(values)).toEqual({ 'dns.pools': [{ name: 'a' }] });
    expect(Object.keys(nodeValues(values))).toEqual(['server.web_port', 'server.web_tls.enabled']);
    const after = { 'server.web_port': 2 };
    expect(differingKeys(values, after)).toEqual(['server.web_port', 'server.web_tls.enabled', 'dns.pools']);
    expect(nodeDifferences(values, after)).toEqual({
      'server.web_port': 2,
      'server.web_tls.enabled': undefined,
    });
  });
});
