import { expect, test } from '@jest/globals';
import { exemptDomain, withDomain } from './private-answers.ts';

test.each([
  ['nas.tail1234.ts.net', 'ts.net'],
  ['TS.net', 'ts.net'],
  ['nas.ts.net.example', 'nas.ts.net.example'],
  ['xts.net', 'xts.net'],
  ['Nas.Example.org', 'nas.example.org'],
])('exemptDomain() of %s is %s', (name, domain) => {
  expect(exemptDomain(name)).toBe(domain);
});

test('withDomain() adds a domain unless the list already covers it', () => {
  expect(withDomain([], 'ts.net')).toEqual(['ts.net']);
  expect(withDomain(['home.example'], 'ts.net')).toEqual(['home.example', 'ts.net']);
  expect(withDomain(['TS.net'], 'ts.net')).toBeNull();
  expect(withDomain(['example.org'], 'nas.example.org')).toBeNull();
  expect(withDomain(['s.example.org'], 'nas.example.org')).toEqual(['s.example.org', 'nas.example.org']);
});
