import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { readU32 } from '../../shared/dns/wire.ts';
import { octets, u16, u32, wireName } from '../../test/support/dns/built-messages.ts';
import { textAnswer } from '../../test/support/dns/record-text.ts';
import { answerImage } from '../resolve/response/without-proofs.ts';
import { readRRsets } from './answer-records.ts';

const QNAME = wireName('www.test');

/** A record with its owner and RDATA as bytes. */
function record(owner: Uint8Array, type: number, rdata: Uint8Array): Uint8Array {
  return octets(owner, u16(type), u16(1), u32(300), u16(rdata.length), rdata);
}

/** An answer with these records as its body. */
function answerOf(...records: Uint8Array[]) {
  return { ...textAnswer(''), answerCount: records.length, body: octets(...records) };
}

describe('readRRsets(), which groups the records of an answer,', () => {
  test('groups records by owner and type, with the smallest TTL of each RRset', () => {
    const sets = readRRsets(
      QNAME,
      textAnswer('www.test 300 A 192.0.2.1\nwww.test 300 AAAA 20010db8\nwww.test 60 A 192.0.2.2'),
    );
    expect(sets.map(({ owner, type, ttlSecs }) => [nameToText(owner), type, ttlSecs])).toEqual([
      ['www.test', RRType.A, 60],
      ['www.test', RRType.AAAA, 300],
    ]);
    expect(sets[0]!.rdatas.map((rdata) => rdata.join('.'))).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('keeps the RRsets of the answer and authority sections separate', () => {
    const sets = readRRsets(QNAME, textAnswer('test 300 NS a.test', 'test 300 NS b.test'));
    expect(sets.map(({ isAnswer, rdatas }) => [isAnswer, rdatas.length])).toEqual([
      [true, 1],
      [false, 1],
    ]);
  });

  test('assigns each RRset the signatures that cover it, wherever they are, and removes all other signatures', () => {
    const signature = (owner: string, type: string): string =>
      `${owner} 300 RRSIG ${type} 15 2 300 1800600000 1800000000 7 test AAAA`;
    const answer = textAnswer(
      [signature('www.test', 'A'), 'www.test 300 A 192.0.2.1', signature('www.test', 'MX')].join('\n'),
      signature('www.test', 'A'),
    );
    const sets = readRRsets(QNAME, answer);
    expect(sets).toHaveLength(1);
    expect(sets[0]!.signatures.map(({ typeCovered }) => typeCovered)).toEqual([RRType.A]);
  });

  test('returns the offsets of the TTLs of an RRset and of its signatures in the body', () => {
    const answer = textAnswer(
      'www.test 300 A 192.0.2.1\nwww.test 301 RRSIG A 15 2 300 1800600000 1800000000 7 test AAAA',
    );
    const [set] = readRRsets(QNAME, answer);
    expect(set!.ttlOffsets.map((at) => readU32(answer.body, at))).toEqual([300, 301]);
  });

  test('converts owners and names in RDATA to lower case, and expands the latter (RFC 4034 section 6.2)', () => {
    // The exchange is "Mail" and a pointer to "TEST" in the owner.
    const owner = octets([3], Buffer.from('WWW'), [4], Buffer.from('TEST'), [0]);
    const testAt = answerImage(QNAME, answerOf()).length + 4;
    const mail = octets([0, 10], [4], Buffer.from('Mail'), [0xc0 | (testAt >>> 8), testAt & 0xff]);
    const [set] = readRRsets(QNAME, answerOf(record(owner, RRType.MX, mail)));
    expect(set!.owner).toEqual(wireName('www.test'));
    expect([...set!.rdatas[0]!]).toEqual([...octets([0, 10], wireName('mail.test'))]);
  });

  test('keeps the letter case of the next name in NSEC (RFC 6840 section 5.1)', () => {
    const next = octets([1], Buffer.from('B'), [0]);
    const [set] = readRRsets(QNAME, answerOf(record(wireName('a'), RRType.NSEC, octets(next, [0, 1, 0x40]))));
    expect([...set!.rdatas[0]!.subarray(0, 3)]).toEqual([...next]);
  });

  test('rejects an answer with malformed record structure', () => {
    const cutOff = record(wireName('test'), RRType.MX, octets([0, 10, 4, 1]));
    expect(() => readRRsets(QNAME, answerOf(cutOff))).toThrow('its normalised form is malformed');
    expect(() => readRRsets(QNAME, { ...answerOf(), answerCount: 1 })).toThrow('malformed');
  });
});

describe('answerImage(), which rebuilds the message of an answer,', () => {
  test('puts the question at byte 12 and the records after it', () => {
    const answer = textAnswer('www.test 300 A 192.0.2.1');
    const image = answerImage(QNAME, answer);
    expect([...image.subarray(12, 12 + QNAME.length)]).toEqual([...QNAME]);
    expect([...image.subarray(12 + QNAME.length + 4)]).toEqual([...answer.body]);
  });
});
