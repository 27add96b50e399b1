import { describe, expect, test } from '@jest/globals';
import { acmeFaults } from './acme-rules.ts';

const GOOD = {
  directory_url: 'https://ca.test/dir',
  names: ['dns.example.org'],
  challenge: 'http-01',
  dns_server: '',
  tsig_name: '',
  tsig_key_file: '',
} as const;

const keysOf = (more: object): string[] => acmeFaults({ ...GOOD, ...more }).map(({ key }) => key);

describe('acmeFaults()', () => {
  test.each([
    ['a host name with an HTTP challenge', {}, []],
    ['a directory URL without TLS', { directory_url: 'http://ca.test/dir' }, ['directory_url']],
    ['a wildcard with an HTTP challenge', { names: ['*.example.org'] }, ['challenge']],
    [
      'a wildcard with a DNS challenge',
      { names: ['*.example.org'], challenge: 'dns-01', dns_server: '192.0.2.53' },
      [],
    ],
    ['a DNS challenge without a server', { challenge: 'dns-01' }, ['dns_server']],
    ['a TSIG key without its file', { tsig_name: 'weir' }, ['tsig_name']],
    ['a DNS challenge without names', { names: [], challenge: 'dns-01' }, []],
  ])('of %s returns the faults %j', (_what, more, expected) => {
    expect(keysOf(more)).toEqual(expected);
  });
});
