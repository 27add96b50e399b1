import { describe, expect, test } from '@jest/globals';
import { Params } from './params.ts';
import { NAMED_TYPES } from './query-kinds.ts';
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

describe('conditionsOf(), the filters of a compatibility API request,', () => {
  test.each([
    ['', {}],
    ['domain=*.example.org&client_ip=192.*', { domainPattern: '*.example.org', clientPatterns: ['192.*'] }],
    ['client_name=p*', { clientPatterns: ['192.0.2.7', '192.0.2.8'] }],
    ['client_name=p*&client_ip=*.8', { clientPatterns: ['192.0.2.8'] }],
    ['client_name=none', { clientPatterns: [] }],
    ['upstream=192.0.2.54%23853', { upstreams: ['tls://dns.example.org@192.0.2.54'] }],
    ['upstream=udp://*', { upstreams: ['udp://192.0.2.53'] }],
    ['status=cache_stale', { decisions: ['STALE'] }],
    ['status=GRAVITY&upstream=blocklist', { decisions: ['BLOCKED_LIST'] }],
    ['status=GRAVITY&upstream=cache', { decisions: [] }],
    ['dnssec=ABANDONED', { dnssec: 'indeterminate' }],
    ['dnssec=TRUNCATED', { decisions: [] }],
    ['status=regex_cname', { decisions: ['BLOCKED_CNAME:regex'] }],
    ['type=AAAA&reply=nxdomain', { type: 'AAAA', reply: 'NXDOMAIN' }],
    ['type=other&reply=CNAME', { typesLeftOut: NAMED_TYPES, reply: 'CNAME' }],
  ])('is right for %j', (query, expected) => {
    expect(conditions(query)).toEqual(expected);
  });

  test.each(['status=__proto__', 'type=NOTYPE', 'reply=__proto__', 'dnssec=constructor'])(
    'rejects %s',
    (query) => {
      expect(() => conditions(query)).toThrow(expect.objectContaining({ status: 400, key: 'bad_request' }));
    },
  );
});
