import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { Protocol } from '../../shared/query-log.ts';
import { BlockingMode, type PolicyTable } from '../../shared/snapshot/policy-table.ts';
import { query as queryMessage } from '../../test/support/dns/dns-message.ts';
import { Query } from '../query/query.ts';
import { answerBlocked, answerNegative, answerRecord } from './block-answer.ts';

const MODE = {
  blockingMode: BlockingMode.custom_ip,
  blockingTtlSecs: 10,
  givesIpv4: true,
  givesIpv6: true,
  customIpv4: Uint8Array.of(192, 0, 2, 7),
  customIpv6: Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7),
};

/** A request for www.test in a slot with other slots around it. */
function request(qtype: number, capacity = 512): Query {
  const message = queryMessage('www.test', qtype);
  const query = new Query();
  const bytes = new Uint8Array(capacity + 32).fill(0xee);
  bytes.set(message, 16);
  query.begin(bytes, 16, message.length, capacity);
  query.protocol = Protocol.tcp;
  query.questionEnd = message.length;
  query.qtype = qtype;
  return query;
}

function replyOf(query: Query) {
  const reply = decodeMessage(query.bytes.slice(query.at, query.at + query.replyLength));
  const records = (reply?.answers ?? []) as unknown as {
    name: string;
    type: string;
    ttl: number;
    data: unknown;
  }[];
  return {
    rcode: query.rcode,
    tc: reply?.flag_tc,
    answers: records.map(({ name, type, ttl, data }) => [name, type, ttl, data]),
    authorities: (reply?.authorities ?? []).map(({ name, type }) => `${name} ${type}`),
  };
}

function blocked(qtype: number, settings: Partial<typeof MODE> | { blockingMode: number }) {
  const query = request(qtype);
  answerBlocked(query, { ...MODE, ...settings } as unknown as PolicyTable, ExtendedError.BLOCKED);
  expect(query.extendedError).toBe(ExtendedError.BLOCKED);
  return replyOf(query);
}

describe('answerBlocked(), the answer to a blocked query,', () => {
  test.each([
    ['nxdomain', Rcode.NXDOMAIN, ['www.test SOA']],
    ['nodata', Rcode.NOERROR, ['www.test SOA']],
    ['refused', Rcode.REFUSED, []],
  ] as const)('answers in blocking mode %s', (mode, rcode, authorities) => {
    expect(blocked(RRType.A, { blockingMode: BlockingMode[mode] })).toEqual({
      rcode,
      tc: false,
      answers: [],
      authorities,
    });
  });

  test('returns the configured address of the queried family', () => {
    expect(blocked(RRType.A, {}).answers).toEqual([['www.test', 'A', 10, '192.0.2.7']]);
    expect(blocked(RRType.AAAA, {}).answers).toEqual([['www.test', 'AAAA', 10, '2001:db8::7']]);
  });

  test('returns NODATA for types other than A and AAAA, and for an address family without a configured address', () => {
    const nodata = { rcode: Rcode.NOERROR, tc: false, answers: [], authorities: ['www.test SOA'] };
    expect(blocked(RRType.HTTPS, {})).toEqual(nodata);
    expect(blocked(RRType.A, { givesIpv4: false })).toEqual(nodata);
    expect(blocked(RRType.AAAA, { givesIpv6: false })).toEqual(nodata);
  });
});

describe('answerRecord()', () => {
  test('records the offset of the answer record for the log', () => {
    const query = request(RRType.A);
    answerRecord(query, MODE.customIpv4, 10);
    expect([query.answersAt, query.answersLength, query.answersCount]).toEqual([query.questionEnd, 16, 1]);
  });

  test('sets TC if the slot is too small, and writes nothing outside the slot', () => {
    const whole = request(RRType.A).questionEnd + 16;
    for (const [capacity, tc] of [
      [whole, false],
      [whole - 1, true],
    ] as const) {
      const query = request(RRType.A, capacity);
      answerRecord(query, MODE.customIpv4, 10);
      expect(replyOf(query).tc).toBe(tc);
      const outside = [...query.bytes.subarray(0, 16), ...query.bytes.subarray(16 + capacity)];
      expect(outside.every((byte) => byte === 0xee)).toBe(true);
    }
  });
});

describe('answerNegative(), an answer with a SOA,', () => {
  test('sets the negative TTL in the SOA (RFC 2308 section 5)', () => {
    const query = request(RRType.A);
    answerNegative(query, Rcode.NXDOMAIN, 123);
    const reply = decodeMessage(query.bytes.slice(query.at, query.at + query.replyLength));
    expect(reply?.authorities).toMatchObject([
      {
        name: 'www.test',
        type: 'SOA',
        ttl: 123,
        data: { mname: 'www.test', rname: 'nobody.invalid', minimum: 123 },
      },
    ]);
  });

  test('keeps existing CNAME records, and uses the zone of their target', () => {
    const query = request(RRType.A);
    answerRecord(query, MODE.customIpv4, 10);
    // Offset of "test" within the qname.
    answerNegative(query, Rcode.NOERROR, 60, 16);
    expect(replyOf(query)).toMatchObject({
      answers: [['www.test', 'A', 10, '192.0.2.7']],
      authorities: ['test SOA'],
    });
  });

  test('sets TC if the slot is too small', () => {
    const query = request(RRType.A, 60);
    answerNegative(query, Rcode.NXDOMAIN, 60);
    expect(replyOf(query)).toMatchObject({ rcode: Rcode.NXDOMAIN, tc: true, authorities: [] });
  });
});
