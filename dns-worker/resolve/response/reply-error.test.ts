import { describe, expect, test } from '@jest/globals';
import { octets, optWith, question, response } from '../../../test/support/dns/built-messages.ts';
import { readResponse } from './response-reader.ts';

const ASKED = question('www.example.org', 'A');
const EDE = 15;

function errorOf(code: number, data: Uint8Array): number | string | undefined {
  const reading = readResponse(response(ASKED, { additionals: [optWith(code, data)] }), ASKED);
  return reading.kind === 'answer' ? reading.answer.extendedError : reading.kind;
}

describe('blockErrorOf(), the extended error of an upstream that blocks,', () => {
  test.each([
    [15, 16],
    [16, 16],
    [17, 17],
    [18, 18],
    [0, undefined],
    [3, undefined],
    [6, undefined],
    [22, undefined],
    [0xff10, undefined],
  ])("an upstream's extended error %d is relayed as %p", (code, reported) => {
    const text = new Uint8Array(300).fill(0x3c);
    expect(errorOf(EDE, octets([code >> 8, code & 0xff], text))).toBe(reported);
  });

  test('the first extended error about blocking is relayed, even if other errors come before it', () => {
    const more = octets(
      [0, 3],
      [0, EDE, 0, 1, 0],
      [0, 10, 0, 0],
      [0, EDE, 0, 2, 0, 17],
      [0, EDE, 0, 2, 0, 15],
    );
    const whole = octets([0, EDE, 0, 2], more);
    expect(errorOf(EDE, new Uint8Array([0]))).toBeUndefined();
    const message = response(ASKED, { additionals: [{ ...optWith(EDE, more), rdata: whole }] });
    const reading = readResponse(message, ASKED);
    expect(reading).toMatchObject({ kind: 'answer', answer: { extendedError: 17 } });
  });

  test('EDNS options that exceed the OPT record are ignored', () => {
    const rdata = Uint8Array.of(0, EDE, 0, 9, 0, 15);
    const reading = readResponse(
      response(ASKED, { additionals: [{ ...optWith(EDE, rdata), rdata }] }),
      ASKED,
    );
    expect(reading.kind === 'answer' ? reading.answer.extendedError : undefined).toBeUndefined();
  });
});
