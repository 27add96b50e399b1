import { describe, expect, test } from '@jest/globals';
import { readU32 } from '../../../shared/dns/wire.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import {
  a,
  cname,
  octets,
  question,
  response,
  soa,
  type TestRecord,
  u16,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import { BodyWriter } from './body-writer.ts';
import { RecordTable } from './record-table.ts';
import { expandName, newExpandedName } from './wire-name.ts';

const WWW = question('www.test', 'A');

/** Writes the records of a response to `www.test` with these TTLs. */
function write(answers: readonly TestRecord[], ttlSecs = 60, writer = new BodyWriter(7)) {
  const message = response(WWW, { answers });
  const qname = newExpandedName();
  expandName(message, 12, qname);
  const table = new RecordTable(7);
  if (table.read(message, 12 + WWW.qname.length + 4, qname) !== 'read') throw new Error('malformed');
  writer.begin(WWW.qname);
  const written = answers.map((_, index) => writer.record(message, table, index, ttlSecs));
  return { writer, written, body: writer.body() };
}

/** The message that a client gets. */
function decoded(body: Uint8Array, count: number) {
  const counts = [1, count, 0, 0].flatMap(u16);
  const message = octets(u16(0), u16(0x8180), counts, WWW.qname, u16(1), u16(1), body);
  return (decodeMessage(message)?.answers ?? []) as unknown as {
    name: string;
    type: string;
    data: unknown;
  }[];
}

describe('BodyWriter.record(), which writes a resource record,', () => {
  test('writes an owner equal to the query name as a pointer to the question', () => {
    const { body } = write([a(Uint8Array.of(0xc0, 12), '192.0.2.1')]);
    expect([...body]).toEqual([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
  });

  test('compresses names against the query name and against each other', () => {
    const { body } = write([cname('www.test', 'a.b.example'), a('a.b.example', '192.0.2.1')]);
    expect([...body.subarray(0, 2)]).toEqual([0xc0, 12]);
    // The target was written in full after the fixed part of the first record; the second owner is a pointer to this
    // target.
    const targetAt = 12 + WWW.qname.length + 4 + 12;
    expect([...body.subarray(12 + wireName('a.b.example').length).subarray(0, 2)]).toEqual([
      0xc0 | (targetAt >>> 8),
      targetAt & 0xff,
    ]);
    expect(decoded(body, 2).map(({ name, data }) => [name, data])).toEqual([
      ['www.test', 'a.b.example'],
      ['a.b.example', '192.0.2.1'],
    ]);
  });

  test('compresses against the first 256 names, and writes later names in full (CVE-2024-8508)', () => {
    const once = Array.from({ length: 300 }, (_, i) => a(`n${String(i)}.www.test`, '192.0.2.1'));
    const { body, writer } = write([...once, ...once]);
    // Type and class take the four bytes between owner and TTL; an A record ends ten bytes after the TTL's offset.
    const ends = Array.from(writer.ttlOffsets(), (at) => at + 10);
    const ownerSizes = ends.map((end, i) => end - 14 - (i === 0 ? 0 : ends[i - 1]!));
    // The question's name and its parent are two of these suffixes.
    expect(
      ownerSizes
        .slice(300)
        .map((size) => size === 2)
        .lastIndexOf(true),
    ).toBe(253);
    expect(ownerSizes.slice(300, 554).every((size) => size === 2)).toBe(true);
    expect(new Set(ownerSizes.slice(554))).toEqual(new Set([1 + 4 + 2]));
    const names = decoded(body, 600).map(({ name }) => name);
    expect(names).toEqual([...once, ...once].map(({ owner }) => owner));
  });

  test('compresses names in any letter case, and keeps the case of the labels that it writes', () => {
    const owner = octets([1], Buffer.from('X'), [4], Buffer.from('TEST'), [0]);
    const { body } = write([a(owner, '192.0.2.1')]);
    expect([...body.subarray(0, 4)]).toEqual([1, 0x58, 0xc0, 16]);
  });

  test('writes both names of a SOA record, and the right RDLENGTH', () => {
    const { body } = write([soa('test', 300, 9)]);
    expect(decoded(body, 1)).toMatchObject([
      { name: 'test', type: 'SOA', data: { mname: 'ns.test', rname: 'root.test', minimum: 9 } },
    ]);
  });

  test('records the offset of each TTL', () => {
    const { writer, body } = write([a('x.test', '192.0.2.1'), a('y.test', '192.0.2.2')], 77);
    expect([...writer.ttlOffsets()].map((at) => readU32(body, at))).toEqual([77, 77]);
    expect(writer.length).toBe(body.length);
  });

  test.each<[string, TestRecord]>([
    ['a name that is cut off', { owner: 'www.test', type: 'CNAME', ttl: 1, rdata: Uint8Array.of(3, 97) }],
    [
      'bytes after a name',
      { owner: 'www.test', type: 'CNAME', ttl: 1, rdata: octets(wireName('a.test'), [0]) },
    ],
    [
      'a SOA without its numbers',
      { owner: 'test', type: 'SOA', ttl: 1, rdata: octets(wireName('a'), wireName('b'), [0, 0]) },
    ],
    ['an address of three bytes', { owner: 'www.test', type: 'A', ttl: 1, rdata: Uint8Array.of(1, 2, 3) }],
  ])('rejects RDATA with %s', (_, record) => {
    const { writer, written } = write([record]);
    expect([written, writer.isTooLong]).toEqual([[false], false]);
  });

  test('rejects records that exceed the maximum message size, and reports the reason', () => {
    const filled = (size: number) =>
      write([{ owner: Uint8Array.of(0xc0, 12), type: 65280, ttl: 1, rdata: new Uint8Array(size) }]);
    const capacity = 65_535 - (12 + WWW.qname.length + 4) - 12;
    expect([filled(capacity).written, filled(capacity).writer.isTooLong]).toEqual([[true], false]);
    expect([filled(capacity + 1).written, filled(capacity + 1).writer.isTooLong]).toEqual([[false], true]);
  });
});

describe('BodyWriter.begin()', () => {
  test('clears names and TTLs of the previous body', () => {
    const { writer } = write([cname('www.test', 'a.b.example')]);
    const { body } = write([a('a.b.example', '192.0.2.1')], 60, writer);
    expect(decoded(body, 1)).toMatchObject([{ name: 'a.b.example' }]);
    expect(writer.ttlOffsets()).toHaveLength(1);
    expect([...body.subarray(0, 13)]).toEqual([...wireName('a.b.example')]);
  });
});
