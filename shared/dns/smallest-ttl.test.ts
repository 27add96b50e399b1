import { encode } from 'dns-packet';
import { describe, expect, test } from '@jest/globals';
import { smallestTtl } from './smallest-ttl.ts';

type Sections = Pick<Parameters<typeof encode>[0], 'answers' | 'authorities' | 'additionals'>;

/** A reply to a question for www.example.org. */
function replyOf(sections: Sections): Uint8Array {
  return encode({
    type: 'response',
    id: 1,
    questions: [{ type: 'A', name: 'www.example.org' }],
    ...sections,
  });
}

const address = (ttl: number) => ({ type: 'A', name: 'www.example.org', ttl, data: '192.0.2.1' }) as const;
const soa = (ttl: number, minimum: number) => {
  const data = {
    mname: 'ns.example.org',
    rname: 'root.example.org',
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
  };
  return { type: 'SOA', name: 'example.org', ttl, data: { ...data, minimum } } as const;
};
const opt = { type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options: [] } as const;

describe('smallestTtl()', () => {
  test.each<[string, Sections, number]>([
    ['the smallest of the answer', { answers: [address(300), address(20), address(60)] }, 20],
    [
      'that of the answer, whatever else there is',
      { answers: [address(300)], authorities: [soa(5, 5)] },
      300,
    ],
    ['that of a negative answer: the SOA record', { authorities: [soa(30, 900)] }, 30],
    ['that of a negative answer: its MINIMUM', { authorities: [soa(900, 30)] }, 30],
    ['0 where there is nothing to keep', { additionals: [opt as never] }, 0],
  ])('is %s', (_what, sections, expected) => {
    expect(smallestTtl(replyOf(sections))).toBe(expected);
  });

  test('is 0 for a reply without a question', () => {
    expect(smallestTtl(new Uint8Array(12))).toBe(0);
  });
});
