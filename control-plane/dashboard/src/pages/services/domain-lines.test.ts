import { describe, expect, test } from '@jest/globals';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { domainFault, domainsOf } from './domain-lines.ts';

const refusal = (path: string): ApiFailure =>
  new ApiFailure('POST /custom-services', new Response(null, { status: 400 }), {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: 'bad',
    error: 'invalid',
    errors: [{ path, message: 'expected a domain name' }],
  });

describe('domainsOf(), the domains entered for a service,', () => {
  test('are separated by lines, spaces and commas, without empty entries', () => {
    expect(domainsOf(' games.example\n\n*.play.example, x.test ')).toEqual([
      'games.example',
      '*.play.example',
      'x.test',
    ]);
    expect(domainsOf(' \n')).toEqual([]);
  });
});

const german = (message: string): string =>
  message === 'expected a domain name' ? 'Erwartet: ein Domainname' : message;

describe('domainFault(), the error about a domain of a service,', () => {
  test('contains the rejected domain', () => {
    const domains = ['games.example', '-bad-'];
    const inEnglish = (message: string): string => message;
    expect(domainFault(refusal('domains.1'), domains, inEnglish)).toBe('-bad-: expected a domain name');
    expect(domainFault(refusal('domains[1]'), domains, inEnglish)).toBe('-bad-: expected a domain name');
    expect(domainFault(refusal('domains'), [], inEnglish)).toBe('expected a domain name');
  });

  test('translates the message of the server, but not the domain', () => {
    expect(domainFault(refusal('domains.0'), ['-bad-'], german)).toBe('-bad-: Erwartet: ein Domainname');
    expect(domainFault(refusal('domains'), [], german)).toBe('Erwartet: ein Domainname');
  });

  test('is null for errors of other fields, and without an error', () => {
    expect([domainFault(refusal('name'), [], german), domainFault(null, [], german)]).toEqual([null, null]);
  });
});
