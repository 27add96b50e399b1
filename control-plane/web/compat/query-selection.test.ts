import { describe, expect, test } from '@jest/globals';
import { Params } from './params.ts';
import { conditionsOf } from './query-selection.ts';

const known = {
  upstreams: ['udp://192.0.2.53', 'tls://dns.example.org@192.0.2.54'],
  clients: [
    ['192.0.2.7', 'printer.lan'],
    ['192.0.2.8', 'phone.lan'],
  ] as const,
};

/** The conditions that are set. */
function conditions(query: string): object {
  return JSON.parse(JSON.stringify(conditionsOf(new Params(`/queries?${query}`), known))) as object;
}

describe('conditionsOf()', () => {
  test.each([
    ['', {}],
    ['domain=*.example.org&client_ip=192.*', { domainPattern: '*.example.org', clientPatterns: ['192.*'] }],
    ['client_name=p*', { clientPatterns: ['192.0.2.7', '192.0.2.8'] }],
    ['client_name=p*&client_ip=*.8', { clientPatterns: ['192.0.2.8'] }],
    ['client_name=none', { clientPatterns: [] }],
    ['upstream=192.0.2.54%23853', { upstreams: ['tls://dns.example.org@192.0.2.54'] }],
    ['upstream=udp://*', { upstreams: ['udp://192.0.2.53'] }],
    ['status=cache_stale', { statuses: ['STALE'] }],
    ['status=GRAVITY&upstream=blocklist', { statuses: ['BLOCKED_LIST'] }],
    ['status=GRAVITY&upstream=cache', { statuses: [] }],
    ['dnssec=ABANDONED', { dnssec: 'indeterminate' }],
    ['dnssec=TRUNCATED', { statuses: [] }],
    ['type=AAAA&reply=nxdomain', { type: 'AAAA', rcode: 'NXDOMAIN' }],
  ])('conditionsOf() of %j', (query, expected) => {
    expect(conditions(query)).toEqual(expected);
  });

  test.each(['status=__proto__', 'type=OTHER', 'reply=CNAME', 'dnssec=constructor'])(
    'refuses %s',
    (query) => {
      expect(() => conditions(query)).toThrow(expect.objectContaining({ status: 400, key: 'bad_request' }));
    },
  );
});
