import { describe, expect, test } from '@jest/globals';
import { isOpenWithoutLimit, onlyAddress } from './access-state.ts';
import type { AccessFacts } from './access-state.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';

/** Data about a node on a private network. */
function facts(toml: string, given: Partial<AccessFacts> = {}): AccessFacts {
  return {
    dns: testConfig(toml).dns,
    listening: ['127.0.0.1', '192.168.1.2'],
    clients: [],
    containerGateways: [],
    forwardsFor: () => false,
    ...given,
  };
}

describe('isOpenWithoutLimit()', () => {
  const open = '[dns]\nallowed_clients = ["any"]\n';
  const limited = `${open}[dns.rate_limit]\nenabled = true\n`;
  test.each([
    ['an open node with a public address', open, { listening: ['192.168.1.2', '203.0.113.7'] }, true],
    ['an open node with a public address of IPv6', open, { listening: ['2001:db8::7'] }, true],
    ['an open node that a public client reaches', open, { clients: ['203.0.113.9'] }, true],
    ['an open node of a private network', open, { clients: ['192.168.1.9'] }, false],
    ['a node with a rate limit', limited, { listening: ['203.0.113.7'] }, false],
    [
      'a node with a rate limit that only logs',
      `${limited}dry_run = true\n`,
      { listening: ['203.0.113.7'] },
      true,
    ],
    ['the default of dns.allowed_clients', '', { listening: ['203.0.113.7'] }, false],
    ['all of IPv4', '[dns]\nallowed_clients = ["0.0.0.0/0"]\n', { listening: ['203.0.113.7'] }, true],
  ] as const)('returns the correct result for %s', (_name, toml, given, isOpen) => {
    expect(isOpenWithoutLimit(facts(toml, given))).toBe(isOpen);
  });
});

describe('onlyAddress()', () => {
  const container = { containerGateways: ['172.17.0.1'] };
  const proxied = { forwardsFor: (address: string) => address === '127.0.0.1' };
  test.each([
    ['a container whose clients all have the gateway address', container, ['172.17.0.1'], '172.17.0.1'],
    [
      'a container with a health check whose clients all have the gateway address',
      container,
      ['127.0.0.1', '172.17.0.1'],
      '172.17.0.1',
    ],
    ['a container that sees one client', container, ['192.168.1.9'], null],
    ['a container that sees its gateway and a client', container, ['172.17.0.1', '192.168.1.9'], null],
    ['a machine whose router forwards the queries of all devices', {}, ['192.168.1.1'], null],
    ['a machine that queries only itself', {}, ['127.0.0.1'], null],
    ['a proxy on this machine that passes on client addresses', proxied, ['127.0.0.1'], '127.0.0.1'],
    ['a proxy next to clients that query directly', proxied, ['127.0.0.1', '192.168.1.9'], null],
    ['a node without clients', container, [], null],
  ])('returns the correct result for %s', (_name, given, ips, only) => {
    expect(onlyAddress(facts('', { ...given, clients: ips }))).toBe(only);
  });
});
