import { describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import type { QueryLogRow } from '../attribution/row.ts';
import { SLAB_BYTES } from './batch-memory.ts';
import { COPY_COLUMNS, COPY_HEADER_BYTES, CopyEncoder, DAY_MS } from './copy-encoder.ts';
import { stampNode } from './copy-node.ts';
import type { QueryLogPrivacy } from './privacy.ts';

const COLUMNS = COPY_COLUMNS.replaceAll('"', '').split(', ');
type Fields = Record<string, Buffer | null>;

/** The rows of a binary COPY stream, by column; checks its signature and its end. */
function rowsIn(bytes: Buffer): Fields[] {
  expect(bytes.toString('latin1', 0, 11)).toBe('PGCOPY\n\xff\r\n\0');
  const rows: Fields[] = [];
  let at = COPY_HEADER_BYTES;
  for (; bytes.readInt16BE(at) !== -1;) {
    const count = bytes.readInt16BE(at);
    expect(count).toBe(COLUMNS.length);
    at += 2;
    const row: Fields = {};
    for (const column of COLUMNS) {
      const length = bytes.readInt32BE(at);
      at += 4;
      row[column] = length < 0 ? null : bytes.subarray(at, at + length);
      at += Math.max(length, 0);
    }
    rows.push(row);
  }
  expect(at + 2).toBe(bytes.length);
  return rows;
}

function encoded(row: QueryLogRow, privacy: QueryLogPrivacy = 'full'): Fields {
  const encoder = new CopyEncoder(7);
  encoder.encode(row, privacy);
  return rowsIn(encoder.take().bytes)[0]!;
}

const address = (...bytes: number[]): string => Buffer.from(bytes).toString('hex');

describe('CopyEncoder', () => {
  test('encode() writes every number to its column', () => {
    const row = encoded(
      logRow({
        timestampMs: Date.UTC(2026, 6, 5, 12, 30, 15, 250),
        groupId: 0x01020304,
        responseTimeUs: 5_000_000_000,
        qtype: 65_280,
        rcode: 3,
        status: 9,
        protocol: 2,
        dnssec: 1,
        cached: true,
      }),
    );
    const micros = row['timestamp']!.readBigInt64BE();
    expect(Number(micros) / 1000 + Date.UTC(2000, 0, 1)).toBe(Date.UTC(2026, 6, 5, 12, 30, 15, 250));
    expect(
      [row['node_id'], row['group_id'], row['response_time_us']].map((field) => field!.readInt32BE()),
    ).toEqual([7, 0x01020304, 0x7fff_ffff]);
    const small = ['type', 'rcode', 'status', 'protocol', 'dnssec'].map((column) =>
      row[column]!.readUInt16BE(),
    );
    expect(small).toEqual([65_280, 3, 9, 2, 1]);
    expect([...row['cached']!]).toEqual([1]);
    expect([...encoded(logRow({ cached: false }))['cached']!]).toEqual([0]);
  });

  test.each([
    ['a clock before 2000', -1, 0],
    ['a clock beyond 2262', Date.UTC(3000, 0, 1), Date.UTC(2262, 0, 1) - Date.UTC(2000, 0, 1)],
  ])('encode() bounds the time of %s', (_what, timestampMs, sinceEpochMs) => {
    expect(Number(encoded(logRow({ timestampMs }))['timestamp']!.readBigInt64BE())).toBe(sinceEpochMs * 1000);
  });

  const MAPPED = [...Array<number>(10).fill(0), 0xff, 0xff, 192, 0, 2, 7];
  const V6 = [0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
  test.each([
    ['IPv4', [192, 0, 2, 7], 'full', address(2, 32, 0, 4, 192, 0, 2, 7)],
    ['mapped IPv4', MAPPED, 'full', address(2, 32, 0, 4, 192, 0, 2, 7)],
    ['IPv6', V6, 'full', address(3, 128, 0, 16, ...V6)],
    ['nearly mapped', [1, ...MAPPED.slice(1)], 'full', address(3, 128, 0, 16, 1, ...MAPPED.slice(1))],
    ['0xff once', MAPPED.with(11, 0), 'full', address(3, 128, 0, 16, ...MAPPED.with(11, 0))],
    ['0xff once, the other', MAPPED.with(10, 0), 'full', address(3, 128, 0, 16, ...MAPPED.with(10, 0))],
  ] as const)('encode() writes a client of %s', (_what, client, privacy, field) => {
    expect(encoded(logRow({ client: Uint8Array.from(client) }), privacy)['client']!.toString('hex')).toBe(
      field,
    );
  });

  test.each([
    ['the root', Uint8Array.of(0), '.'],
    ['upper case', Uint8Array.from([2, 0x41, 0x42, 1, 0x5a, 0]), 'ab.z'],
    ['a dot and a back slash', Uint8Array.from([3, 0x2e, 0x5c, 0x61, 0]), '\\.\\\\a'],
    ['a blank and control characters', Uint8Array.from([4, 0x20, 0, 9, 0x7f, 0]), '\\032\\000\\009\\127'],
    ['bytes beyond ASCII', Uint8Array.from([2, 0xff, 0xc8, 0]), '\\255\\200'],
    ['! and ~', Uint8Array.from([2, 0x21, 0x7e, 0]), '!~'],
  ])('encode() writes a name of %s', (_what, qname, text) => {
    expect(encoded(logRow({ qname }))['domain']!.toString('latin1')).toBe(text);
  });

  test('encode() writes texts as UTF-8 without NUL, and what is not there as null', () => {
    const row = encoded(logRow({ upstream: 'one\0 ü', blockSource: 'list', blockRule: '||a^' }));
    expect(['upstream', 'block_source', 'block_rule'].map((column) => row[column]!.toString())).toEqual([
      'one ü',
      'list',
      '||a^',
    ]);
    const plain = encoded(logRow());
    expect(['upstream', 'block_source', 'block_rule', 'answers'].map((column) => plain[column])).toEqual(
      Array(4).fill(null),
    );
  });

  test('encode() puts the name into the text of a rule that is at a name', () => {
    const row = logRow();
    const rule = { source: 'list', before: '||', after: '^', atName: true };
    expect(encoded({ ...row, rule, ruleName: row.qname })['block_rule']!.toString()).toBe(
      '||www.example.org^',
    );
  });

  test('encode() keeps answers and whole addresses only where privacy allows it', () => {
    const answers = Buffer.from('c00c0001', 'hex');
    const kept = (privacy: QueryLogPrivacy): [string | undefined, string] => {
      const row = encoded(logRow({ answers, client: Uint8Array.of(192, 0, 2, 7) }), privacy);
      return [row['answers']?.toString('hex'), row['client']!.toString('hex')];
    };
    expect(kept('full')).toEqual(['c00c0001', '02200004c0000207']);
    expect(kept('no_answers')).toEqual([undefined, '02200004c0000207']);
    expect(kept('anonymous_clients')).toEqual(['c00c0001', '02200004c0000200']);
  });

  test('encode() makes room for rows that are longer than the memory it has', () => {
    const encoder = new CopyEncoder(7);
    const upstream = 'ü'.repeat(SLAB_BYTES);
    encoder.encode(logRow({ qname: wireName('first.example') }), 'full');
    encoder.encode(logRow({ upstream, answers: new Uint8Array(60_000).fill(9) }), 'full');
    encoder.encode(logRow({ qname: wireName('last.example') }), 'full');
    const rows = rowsIn(encoder.take().bytes);
    expect(rows.map((row) => row['domain']!.toString())).toEqual([
      'first.example',
      'www.example.org',
      'last.example',
    ]);
    expect(rows[1]!['upstream']!.toString()).toBe(upstream);
    expect(rows[1]!['answers']).toHaveLength(60_000);
  });

  test.each(['source', 'before', 'after'])('encode() makes room for a rule whose %s is long', (part) => {
    const long = 'ü'.repeat(SLAB_BYTES);
    const rule = { source: 'list', before: '||', after: '^', atName: true, [part]: long };
    const row = logRow();
    const encoder = new CopyEncoder(7);
    encoder.encode({ ...row, rule, ruleName: row.qname }, 'full');
    const [written] = rowsIn(encoder.take().bytes);
    expect(written!['block_source']!.toString()).toBe(rule.source);
    expect(written!['block_rule']!.toString()).toBe(`${rule.before}www.example.org${rule.after}`);
  });

  test('take() tells rows and days, and starts again', () => {
    const encoder = new CopyEncoder(7);
    const noon = Date.UTC(2026, 6, 5, 12);
    expect(encoder.byteLength).toBe(COPY_HEADER_BYTES);
    for (const timestampMs of [noon, noon + DAY_MS, noon]) encoder.encode(logRow({ timestampMs }), 'full');
    expect(encoder.rowCount).toBe(3);
    const day = Math.floor(noon / DAY_MS);
    const first = encoder.take();
    expect([first.rowCount, first.days]).toEqual([3, [day, day + 1]]);
    expect([encoder.rowCount, encoder.byteLength]).toEqual([0, COPY_HEADER_BYTES]);
    encoder.encode(logRow({ timestampMs: noon }), 'full');
    const second = encoder.take();
    expect([second.rowCount, second.days]).toEqual([1, [day]]);
    expect(rowsIn(second.bytes)).toHaveLength(1);
    // What was taken before is not written over.
    expect(rowsIn(first.bytes)).toHaveLength(3);
  });
});

describe('stampNode', () => {
  test('stampNode() changes the node of every row and nothing else', () => {
    const encoder = new CopyEncoder(7);
    for (const upstream of ['one', null]) encoder.encode(logRow({ upstream }), 'full');
    const { bytes } = encoder.take();
    const before = rowsIn(Buffer.from(bytes));
    stampNode(bytes, 0x01020304);
    const after = rowsIn(bytes);
    expect(after.map((row) => row['node_id']!.readInt32BE())).toEqual([0x01020304, 0x01020304]);
    const others = (rows: Fields[]): Fields[] => rows.map((row) => ({ ...row, node_id: null }));
    expect(others(after)).toEqual(others(before));
  });
});
