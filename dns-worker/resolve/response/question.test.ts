import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { a, question, response } from '../../../test/support/dns/built-messages.ts';
import { encodeQuery, isResponseTo, questionKey, randomQueryId } from './question.ts';

describe('questionKey, the key for identical queries,', () => {
  test('differs for each part of a question and for nothing else', () => {
    const asked = question('www.example.org', 'A');
    const others = [
      question('ww.example.org', 'A'),
      question('www.example.org', 'AAAA'),
      { ...asked, qclass: 3 },
      { ...asked, dnssecOk: true },
      { ...asked, checkingDisabled: true },
      { ...asked, dnssecOk: true, checkingDisabled: true },
      { ...asked, qtype: 0xd800 },
      { ...asked, ecs: Uint8Array.of(0, 1, 24, 0, 192, 0, 2) },
      { ...asked, ecs: Uint8Array.of(0, 1, 23, 0, 192, 0, 2) },
      { ...asked, ecs: Uint8Array.of(0, 1, 24, 0, 192, 0, 3) },
    ];
    expect(new Set([asked, ...others].map((each) => questionKey(each))).size).toBe(others.length + 1);
    expect(questionKey(question('www.example.org', 'A'))).toBe(questionKey(asked));
  });

  test('is the same for a query without a subnet and a query that forbids sending a subnet', () => {
    const asked = question('www.example.org', 'A');
    expect(questionKey({ ...asked, ecs: Uint8Array.of(0, 1, 0, 0) })).toBe(questionKey(asked));
  });
});

describe('encodeQuery(), which orders the options,', () => {
  const ecs = Uint8Array.of(0, 2, 48, 0, 0x20, 1, 0xd, 0xb8, 0, 7);
  const asked = { ...question('www.example.org', 'A'), ecs };
  const option = [0, 8, 0, ecs.length, ...ecs];

  test('puts the ECS option after the cookie, and padding after both', () => {
    const cookie = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const marks = { name: asked.qname, cookie };
    const message = encodeQuery(asked, 1, { edns: true, marks, padTo: 128 });
    expect(message).toHaveLength(128);
    const opt = 12 + asked.qname.length + 4;
    expect(message.readUInt16BE(opt + 9)).toBe(128 - opt - 11);
    const options = [0, 10, 0, 8, ...cookie, ...option];
    expect([...message.subarray(opt + 11, opt + 11 + options.length)]).toEqual(options);
    expect(message.readUInt16BE(opt + 11 + options.length)).toBe(12);
  });

  test('ends with the ECS option if no other option follows, and omits the ECS option without EDNS', () => {
    const message = encodeQuery(asked, 1, { edns: true, marks: null, padTo: 0 });
    expect([...message.subarray(-option.length)]).toEqual(option);
    const bare = encodeQuery(asked, 1, { edns: false, marks: null, padTo: 0 });
    expect(bare).toHaveLength(message.length - 11 - option.length);
  });
});

describe('encodeQuery(), which writes a query,', () => {
  test.each([
    ['a plain question', {}, { edns: true }],
    ['DO', { dnssecOk: true }, { edns: true }],
    ['CD', { checkingDisabled: true }, { edns: true }],
    ['no EDNS', { dnssecOk: true }, { edns: false }],
  ])('writes a query that dns-packet decodes to the same values: %s', (_what, flags, { edns }) => {
    const asked = { ...question('www.example.org', 'AAAA', flags), qclass: 3 };
    const read = decodeMessage(encodeQuery(asked, 0x1234, { edns, marks: null, padTo: 0 }))!;
    expect(read).toMatchObject({
      id: 0x1234,
      type: 'query',
      flag_rd: true,
      flag_cd: asked.checkingDisabled,
    });
    expect(read.questions).toMatchObject([{ name: 'www.example.org', type: 'AAAA', class: 'CH' }]);
    const opt = { type: 'OPT', udpPayloadSize: 1232, flag_do: asked.dnssecOk, ednsVersion: 0 };
    expect(read.additionals).toMatchObject(edns ? [opt] : []);
  });
});

describe('isResponseTo, whether a response belongs to a query,', () => {
  const asked = question('ab.example', 'A');
  const changed = (at: number, value: number): Uint8Array => {
    const message = response(asked, {});
    message[at] = value;
    return message;
  };
  const tail = 12 + asked.qname.length;

  test('accepts a response with the question in any letter case, and any records and RCODE', () => {
    expect(
      isResponseTo(response(asked, { answers: [a('ab.example', '192.0.2.1')], flags: 0x8183 }), asked),
    ).toBe(true);
    expect(isResponseTo(changed(13, 0x41), asked)).toBe(true);
    expect(isResponseTo(response(asked, { flags: 0xffff & ~0x7800 }), asked)).toBe(true);
  });

  test.each([
    ['a query', changed(2, 0)],
    ['another opcode', changed(2, 0x88)],
    ['no question', changed(5, 0)],
    ['two questions', changed(5, 2)],
    ['256 questions more', changed(4, 1)],
    ['another first label', changed(12, 1)],
    ['another letter', changed(13, 0x63)],
    ['another end of the name', changed(tail - 1, 1)],
    ['another type', changed(tail + 1, 28)],
    ['another class', changed(tail + 3, 3)],
    ['a message that is cut off', response(asked, {}).slice(0, -1)],
    ['nothing', new Uint8Array(0)],
  ])('rejects %s', (_what, message) => {
    expect(isResponseTo(message, asked)).toBe(false);
  });
});

describe('randomQueryId()', () => {
  test('returns all 16-bit values with equal probability', () => {
    const high = new Set<number>();
    const low = new Set<number>();
    for (let i = 0; i < 8000; i++) {
      const id = randomQueryId();
      high.add(id >>> 8);
      low.add(id & 0xff);
    }
    expect([high.size, low.size]).toEqual([256, 256]);
  });
});
