import { describe, expect, test } from '@jest/globals';
import { choiceOf, firstOffered, nameOf, transportsOf } from './known-upstream.ts';
import type { Known } from './known-upstream.ts';

const ONE: Known = {
  operator: 'Example',
  variant: 'Family',
  country: 'CH',
  filters: ['adult'],
  validates: true,
  logging: 'none',
  page: 'https://example.org/privacy',
  udp: [],
  tls: ['tls://dns.example.org@192.0.2.1', 'tls://dns.example.org@192.0.2.2'],
  https: ['https://dns.example.org@192.0.2.1/dns-query'],
};

describe('known public resolvers', () => {
  test('are named by operator and variant', () => {
    expect([nameOf(ONE), nameOf({ ...ONE, variant: '' })]).toEqual(['Example (Family)', 'Example']);
  });

  test('are offered with each of their transports', () => {
    expect(transportsOf(ONE)).toEqual(['tls', 'https']);
  });

  test('are recognized by their exact servers only', () => {
    expect(choiceOf([ONE], ONE.tls)).toEqual({ known: ONE, transport: 'tls' });
    expect(choiceOf([ONE], ONE.https)).toEqual({ known: ONE, transport: 'https' });
    expect(choiceOf([ONE], ONE.tls.slice(1))).toBeNull();
    expect(choiceOf([ONE], [])).toBeNull();
  });

  test('are offered with the first variant of each of the first operators', () => {
    const named = (operator: string, variant: string): Known => ({ ...ONE, operator, variant });
    const all = [named('One', ''), named('One', 'Family'), named('Two', 'Default'), named('Three', '')];
    expect(firstOffered(all, 2).map(nameOf)).toEqual(['One', 'Two (Default)']);
  });
});
