import { describe, expect, test } from '@jest/globals';
import { a, opt, optWith, question, response } from '../../../test/support/dns/built-messages.ts';
import type { TestRecord } from '../../../test/support/dns/built-messages.ts';
import type { Question } from './question.ts';
import { readResponse } from './response-reader.ts';

const ASKED = {
  ...question('www.example.org', 'A'),
  ecs: Uint8Array.of(0, 1, 24, 0, 192, 0, 2),
};

/** Result of reading a reply with this OPT record: the scope prefix length, or the fault. */
function scope(record: TestRecord | null, asked: Question = ASKED): number | string {
  const additionals = record === null ? [] : [record];
  const message = response(asked, { answers: [a('www.example.org', '192.0.2.1')], additionals });
  const reading = readResponse(message, asked);
  if (reading.kind === 'answer') return reading.answer.ecsScope;
  return reading.kind === 'fault' ? reading.fault : reading.kind;
}

function subnet(...data: number[]): TestRecord {
  return optWith(8, Uint8Array.from(data));
}

describe('ecsScopeOf(), the ECS scope of an upstream reply,', () => {
  test('is the scope prefix of the reply, shorter or longer than the source prefix', () => {
    expect(scope(subnet(0, 1, 24, 16, 192, 0, 2))).toBe(16);
    expect(scope(subnet(0, 1, 24, 32, 192, 0, 2))).toBe(32);
    expect(scope(subnet(0, 1, 24, 0, 192, 0, 2))).toBe(0);
  });

  test('is 0 if the reply has no ECS option', () => {
    expect([scope(null), scope(opt()), scope(optWith(10, new Uint8Array(16)))]).toEqual([0, 0, 0]);
  });

  test.each([
    ['another family', subnet(0, 2, 24, 24, 192, 0, 2)],
    ['another source prefix', subnet(0, 1, 23, 24, 192, 0, 2)],
    ['another address', subnet(0, 1, 24, 24, 192, 0, 3)],
    ['a longer address', subnet(0, 1, 24, 24, 192, 0, 2, 0)],
    ['no address', subnet(0, 1, 24, 24)],
    ['an impossible scope', subnet(0, 1, 24, 33, 192, 0, 2)],
  ])('rejects a reply with %s', (_what, record) => {
    expect(scope(record)).toBe('other-ecs');
  });

  test('ignores the ECS option of a reply to a query without ECS', () => {
    const silent = { ...ASKED, ecs: Uint8Array.of(0, 1, 0, 0) };
    expect(scope(subnet(0, 1, 24, 24, 192, 0, 3), silent)).toBe(0);
    expect(scope(subnet(0, 1, 24, 24, 192, 0, 3), { ...ASKED, ecs: null })).toBe(0);
  });
});
