import { describe, expect, test } from '@jest/globals';
import { causeIn, describeCode } from './fault-cause.ts';

describe('describeCode(), which explains an error code,', () => {
  test('returns words that end with the code, and null for codes of other kinds', () => {
    expect(describeCode('ENETUNREACH')).toBe(
      'this machine has no route to the network of the server (ENETUNREACH)',
    );
    expect(describeCode('ENOSPC')).toBeNull();
    expect(describeCode('toString')).toBeNull();
  });
});

describe('causeIn(), which finds the cause in an error text,', () => {
  test.each([
    [`could not fetch https://lists.example/a: ${describeCode('EAI_AGAIN')}`, 'lookup_failed'],
    [describeCode('CERT_HAS_EXPIRED')!, 'certificate_expired'],
    ['EHOSTUNREACH', 'host_unreachable'],
    ['could not fetch https://lists.example/a: the server answered 404', null],
    ['timeout', 'silent'],
    ['no address for dns.example', 'no_address'],
    ['the disk is full (ENOSPC)', null],
  ])('returns for %j the cause %j', (text, cause) => expect(causeIn(text)).toBe(cause));
});
