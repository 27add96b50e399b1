import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { findingOf, isAnswered, type ProbeReply } from './capability-probe.ts';

const reply = (more: Partial<ProbeReply> = {}): ProbeReply => ({
  rcode: Rcode.NOERROR,
  doubt: null,
  hasCookie: true,
  isDisturbed: false,
  ...more,
});

describe('findingOf(), the result of a probe for a feature,', () => {
  test.each([
    ['case', reply(), 'supported'],
    ['case', reply({ rcode: Rcode.NXDOMAIN }), 'refused'],
    ['case', reply({ rcode: null }), 'silent'],
    ['case', reply({ rcode: null, doubt: 'changed case' }), 'altered'],
    ['case', reply({ hasCookie: false }), 'supported'],
    ['cookies', reply(), 'supported'],
    ['cookies', reply({ hasCookie: false }), 'unsupported'],
    ['cookies', reply({ rcode: Rcode.FORMERR }), 'refused'],
    ['cookies', reply({ rcode: null, doubt: 'no cookie' }), 'unsupported'],
    ['cookies', reply({ rcode: null, doubt: 'foreign cookie' }), 'altered'],
  ] as const)('for the feature %s and the reply %j is %s', (feature, probed, finding) => {
    expect(findingOf(feature, probed, Rcode.NOERROR)).toBe(finding);
  });
});

describe('isAnswered(), whether a probe got an answer,', () => {
  test('treats NOERROR and NXDOMAIN as answers', () => {
    expect(isAnswered(reply())).toBe(true);
    expect(isAnswered(reply({ rcode: Rcode.NXDOMAIN }))).toBe(true);
    expect(isAnswered(reply({ rcode: Rcode.SERVFAIL }))).toBe(false);
    expect(isAnswered(reply({ rcode: null }))).toBe(false);
  });
});
