import { describe, expect, test } from '@jest/globals';
import { RRType } from '../../../shared/dns/iana.ts';
import {
  a,
  octets,
  opt,
  optWith,
  question,
  response,
  type TestRecord,
  u16,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import { MAX_RECORDS, RecordTable } from './record-table.ts';
import { expandName, newExpandedName } from './wire-name.ts';

const WWW = question('www.test', 'A');
const QNAME = newExpandedName();
expandName(octets(new Uint8Array(12), WWW.qname), 12, QNAME);
const QUESTION_END = 12 + WWW.qname.length + 4;

function read(message: Uint8Array) {
  const table = new RecordTable(7);
  return { table, result: table.read(message, QUESTION_END, QNAME) };
}

describe('RecordTable.read(), which parses the records of a message,', () => {
  test('fills a column for each field, answers before authorities', () => {
    const message = response(WWW, {
      answers: [{ ...a('www.test', '192.0.2.1', 60), rrClass: 3 }],
      authorities: [a('ns.test', '192.0.2.2', 61)],
    });
    const { table, result } = read(message);
    expect([result, table.answers, table.count]).toEqual(['read', 1, 2]);
    const row = (i: number) => [table.type[i], table.rrClass[i], table.ttlSecs[i], table.rdlength[i]];
    expect([row(0), row(1)]).toEqual([
      [RRType.A, 3, 60, 4],
      [RRType.A, 1, 61, 4],
    ]);
    expect([...message.subarray(table.rdataAt[1], table.rdataAt[1]! + 4)]).toEqual([192, 0, 2, 2]);
  });

  test('reads a TTL with the top bit set as 0 (RFC 2181 section 8)', () => {
    const ttls = [0x7fff_ffff, 0x8000_0000].map((ttl) =>
      read(response(WWW, { answers: [a('www.test', '192.0.2.1', ttl)] })),
    );
    expect(ttls.map(({ table }) => table.ttlSecs[0])).toEqual([0x7fff_ffff, 0]);
  });

  test('gives an owner the same hash as a pointer to the question name', () => {
    const { table } = read(
      response(WWW, {
        answers: [
          a(Uint8Array.of(0xc0, 12), '192.0.2.1'),
          a('www.test', '192.0.2.1'),
          a('x.test', '192.0.2.1'),
        ],
      }),
    );
    expect(table.ownerHash[0]).toBe(table.ownerHash[1]);
    expect(table.ownerHash[0]).toBe(table.hash(QNAME));
    expect(table.ownerHash[2]).not.toBe(table.ownerHash[0]);
  });

  test.each([
    ['within its name', 3],
    ['within its fixed fields', 12],
    ['within its RDATA', 1],
  ])('rejects a message that ends %s of a record', (_, cut) => {
    const message = response(WWW, { answers: [a(Uint8Array.of(0xc0, 12), '192.0.2.1')] });
    expect(read(message).result).toBe('read');
    expect(read(message.subarray(0, message.length - cut)).result).toBe('malformed');
  });

  test('rejects a message with more records than a message can hold', () => {
    const filled = (count: number): Uint8Array => {
      const record = octets([0xc0, 12], u16(1), u16(1), [0, 0, 0, 1], u16(0));
      const message = octets(response(WWW), ...Array.from({ length: count }, () => record));
      message.set(u16(count - 1), 6);
      message.set(u16(1), 8);
      return message;
    };
    expect(read(filled(MAX_RECORDS)).result).toBe('read');
    expect(read(filled(MAX_RECORDS + 1)).result).toBe('malformed');
  });

  test('reads the upper bits of the RCODE and the offset of the options from an OPT record', () => {
    const option = optWith(15, Uint8Array.of(0, 17));
    const { table } = read(response(WWW, { additionals: [{ ...option, ttl: 0x0100_0000 }] }));
    expect([table.hasOpt, table.extendedRcode, table.optionsEnd - table.optionsAt]).toEqual([true, 1, 6]);
    const without = read(response(WWW)).table;
    expect([without.hasOpt, without.extendedRcode, without.optionsAt]).toEqual([false, 0, 0]);
  });

  test.each<[string, TestRecord[]]>([
    ['an OPT record that is not the root’s', [{ ...opt(), owner: 'test' }]],
    ['options that do not fit', [{ ...opt(), rdata: Uint8Array.of(0, 15, 0, 4, 0) }]],
  ])('rejects a message with %s (RFC 6891 section 6.1)', (_, additionals) => {
    expect(read(response(WWW, { additionals })).result).toBe('malformed');
  });

  test.each([
    ['OPT', RRType.OPT],
    ['TSIG', 250],
    ['ANY', 255],
  ])('rejects %s in the answer and authority sections', (_name, type) => {
    const odd: TestRecord = { ...a('www.test', '192.0.2.1'), type };
    for (const answers of [[odd], [a('www.test', '192.0.2.1'), odd]])
      expect(read(response(WWW, { answers })).result).toBe('malformed-data');
    expect(read(response(WWW, { authorities: [odd] })).result).toBe('malformed-data');
    expect(read(response(WWW, { answers: [{ ...odd, type: 65280 }] })).result).toBe('read');
  });

  test('rejects TSIG in the additional section, because Weir sends no signed queries', () => {
    const tsig: TestRecord = { ...a('www.test', '192.0.2.1'), type: 250, rrClass: 255 };
    expect(read(response(WWW, { additionals: [opt(), tsig] })).result).toBe('malformed-data');
  });

  test('clears the data of the previous message', () => {
    const table = new RecordTable(7);
    table.read(
      response(WWW, { answers: [a('www.test', '192.0.2.1')], additionals: [opt(1)] }),
      QUESTION_END,
      QNAME,
    );
    table.read(response(WWW), QUESTION_END, QNAME);
    expect([table.count, table.answers, table.hasOpt, table.extendedRcode]).toEqual([0, 0, false, 0]);
  });
});

describe('RecordTable.isOwnedBy(), whether a record has an owner name,', () => {
  test('compares the owner name itself, even if the hashes are equal', () => {
    const message = response(WWW, {
      answers: [a(wireName('www.test'), '192.0.2.1'), a('x.test', '192.0.2.1')],
    });
    const { table } = read(message);
    const hash = table.hash(QNAME);
    expect(table.isOwnedBy(message, 0, QNAME, hash)).toBe(true);
    expect(table.isOwnedBy(message, 1, QNAME, hash)).toBe(false);
    expect(table.isOwnedBy(message, 1, QNAME, table.ownerHash[1]!)).toBe(false);
  });
});
