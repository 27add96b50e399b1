/** Responses of arbitrary bytes. */
import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import {
  a,
  cname,
  ns,
  octets,
  opt,
  question,
  response,
  rrsig,
  soa,
  u16,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import type { TestRecord } from '../../../test/support/dns/built-messages.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { readResponse } from './response-reader.ts';
import { WWW, WWW_DO, assemble, answerOf, decoded } from '../../../test/support/dns/read-answer.ts';

/** Names with common suffixes, so that there is something to compress. */
const someName = fc
  .array(fc.constantFrom('www', 'a', 'b', 'cdn', 'example', 'mail'), { minLength: 1, maxLength: 4 })
  .chain((labels) => fc.constantFrom('org', 'net', 'test').map((tld) => [...labels, tld].join('.')));
const someTtl = fc.integer({ min: 0, max: 0x7fffffff });
const someRecord = (owner: fc.Arbitrary<string>): fc.Arbitrary<TestRecord> =>
  fc.oneof(
    fc.record({ owner, ttl: someTtl, ip: fc.ipV4() }).map((it) => a(it.owner, it.ip, it.ttl)),
    fc.record({ owner, ttl: someTtl, target: someName }).map((it) => ns(it.owner, it.target, it.ttl)),
    fc.record({ owner, ttl: someTtl, target: someName }).map((it): TestRecord => ({
      owner: it.owner,
      type: 'MX',
      ttl: it.ttl,
      rdata: octets([0, 5], wireName(it.target)),
    })),
    fc.record({ owner, ttl: someTtl, target: someName }).map((it): TestRecord => ({
      owner: it.owner,
      type: 'SRV',
      ttl: it.ttl,
      rdata: octets([0, 1, 0, 2, 0, 53], wireName(it.target)),
    })),
    fc.record({ owner, ttl: someTtl, zone: someName }).map((it) => soa(it.owner, it.ttl, 60)),
  );

describe('readResponse() with random input', () => {
  test('does not throw or exceed the size limit for any bytes after a valid question', () => {
    const counts = fc.tuple(fc.nat(40), fc.nat(40), fc.nat(40));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 1500 }),
        counts,
        fc.boolean(),
        (tail, [an, nscount, ar], dnssecOk) => {
          const asked = dnssecOk ? WWW_DO : WWW;
          const message = octets(response(asked), tail);
          message.set([...u16(an), ...u16(nscount), ...u16(ar)], 6);
          const reading = readResponse(message, asked);
          if (reading.kind === 'answer')
            expect(decodeMessage(assemble(asked, reading.answer))).not.toBeNull();
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('does not throw or exceed the size limit for a valid message with changed bytes', () => {
    const good = response(WWW_DO, {
      answers: [
        cname('www.example.org', 'b.example.net'),
        a('b.example.net', '192.0.2.1'),
        rrsig('b.example.net', 'A'),
      ],
      authorities: [soa('example.net', 60, 60)],
      additionals: [opt()],
    });
    const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(changes, (list) => {
        const message = good.slice();
        for (const [at, value] of list) message[at] = value;
        const reading = readResponse(message, WWW_DO);
        if (reading.kind !== 'answer') return;
        const { answer } = reading;
        const again = answerOf(readResponse(assemble(WWW_DO, answer), WWW_DO));
        expect(again.body).toEqual(answer.body);
      }),
      { numRuns: 3000 },
    );
  });

  test('keeps the same relevant records as dns-packet, and is idempotent', () => {
    const types = ['A', 'NS', 'MX', 'SRV', 'SOA'] as const;
    const scenario = fc.record({
      qname: someName,
      qtype: fc.constantFrom(...types),
      own: fc.array(someRecord(fc.constant('')), { maxLength: 12 }),
      foreign: fc.array(someRecord(someName), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(scenario, ({ qname, qtype, own, foreign }) => {
        const asked = question(qname, qtype);
        const answers = [...own.map((record) => ({ ...record, owner: qname })), ...foreign];
        const message = response(asked, { flags: 0x8580, answers });
        const answer = answerOf(readResponse(message, asked));
        const expected = (decodeMessage(message)?.answers ?? []).filter(
          (it) => it.name === qname && it.type === qtype,
        );
        const actual = decoded(asked, answer).answers ?? [];
        expect(actual.map(dataOf)).toEqual(expected.map(dataOf));
        const least = Math.min(...expected.map((it) => ('ttl' in it ? (it.ttl ?? 0) : 0)));
        expect(answer.minTtlSecs).toBe(expected.length === 0 ? 0 : least);
        expect(answerOf(readResponse(assemble(asked, answer), asked))).toEqual(answer);
        expect(answer.body.length).toBeLessThanOrEqual(message.length);
      }),
      { numRuns: 500 },
    );
  });
});

function dataOf(record: object): unknown {
  return 'data' in record ? record.data : undefined;
}
