import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { textAnswer } from '../../../test/support/dns/record-text.ts';
import type { ResponseReading } from '../response/cacheable-answer.ts';
import { errorDetail, lossOf, outcomeOf } from './exchange.ts';

function reading(rcode: number, hasEdns: boolean): ResponseReading {
  return { kind: 'answer', answer: textAnswer('', '', { rcode }), hasEdns };
}

describe('outcomeOf(), the outcome of a response,', () => {
  test('treats FORMERR as a rejection of EDNS only if the query had EDNS and the response has none', () => {
    const kinds = (rcode: number) =>
      [
        [true, false],
        [true, true],
        [false, false],
      ].map(([asked, came]) => outcomeOf(reading(rcode, came!), asked!).kind);
    expect(kinds(Rcode.FORMERR)).toEqual(['refused', 'answer', 'answer']);
    expect(kinds(Rcode.NXDOMAIN)).toEqual(['answer', 'answer', 'answer']);
  });

  test('treats a truncated response over a stream as no answer', () => {
    expect(outcomeOf({ kind: 'truncated' }, true)).toEqual({
      kind: 'failed',
      reason: 'unusable',
      detail: 'truncated',
    });
  });

  test.each([
    ['malformed', 'malformed', 'malformed response'],
    ['not-a-response-to-this', 'malformed', 'malformed response'],
    ['chain-too-long', 'unusable', 'chain-too-long'],
  ])(
    'counts the failure kind %s against the server only for a malformed response',
    (fault, reason, detail) => {
      expect(outcomeOf({ kind: 'fault', fault } as ResponseReading, true)).toEqual({
        kind: 'failed',
        reason,
        detail,
      });
    },
  );
});

describe('lossOf(), the reason for a lost query,', () => {
  test.each([
    ['EMFILE', 'local'],
    ['EADDRNOTAVAIL', 'local'],
    ['ECONNREFUSED', 'network'],
    ['closed', 'network'],
  ])('is for the error %s: %s', (detail, reason) => {
    expect(lossOf(detail)).toEqual({ kind: 'failed', reason, detail });
  });
});

describe('errorDetail(), the text of an error,', () => {
  test('returns the code of an error, otherwise its message, or the text of a thrown value', () => {
    expect(errorDetail(Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' }))).toBe(
      'ECONNREFUSED',
    );
    expect(errorDetail(new Error('connect failed'))).toBe('connect failed');
    expect(errorDetail('gone')).toBe('gone');
  });
});
