import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { textAnswer } from '../../../test/support/dns/record-text.ts';
import type { ResponseReading } from '../response/cacheable-answer.ts';
import { errorDetail, lossOf, outcomeOf } from './exchange.ts';

function reading(rcode: number, hasEdns: boolean): ResponseReading {
  return { kind: 'answer', answer: textAnswer('', '', { rcode }), hasEdns };
}

describe('outcomeOf()', () => {
  test('treats FORMERR as a refusal of EDNS only if the query had EDNS and the response has none', () => {
    const kinds = (rcode: number) =>
      [
        [true, false],
        [true, true],
        [false, false],
      ].map(([asked, came]) => outcomeOf(reading(rcode, came!), asked!).kind);
    expect(kinds(Rcode.FORMERR)).toEqual(['refused', 'answer', 'answer']);
    expect(kinds(Rcode.NXDOMAIN)).toEqual(['answer', 'answer', 'answer']);
  });

  test('finds no answer in a truncated response on a stream', () => {
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
  ])('counts %s against the server only if the response is malformed', (fault, reason, detail) => {
    expect(outcomeOf({ kind: 'fault', fault } as ResponseReading, true)).toEqual({
      kind: 'failed',
      reason,
      detail,
    });
  });
});

describe('lossOf()', () => {
  test.each([
    ['EMFILE', 'local'],
    ['EADDRNOTAVAIL', 'local'],
    ['ECONNREFUSED', 'network'],
    ['closed', 'network'],
  ])('returns for %s the reason %s', (detail, reason) => {
    expect(lossOf(detail)).toEqual({ kind: 'failed', reason, detail });
  });
});

describe('errorDetail()', () => {
  test('is the code, else the message, else the text of a value that is not an error', () => {
    expect(errorDetail(Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' }))).toBe(
      'ECONNREFUSED',
    );
    expect(errorDetail(new Error('connect failed'))).toBe('connect failed');
    expect(errorDetail('gone')).toBe('gone');
  });
});
