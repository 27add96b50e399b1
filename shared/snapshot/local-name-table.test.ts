import { describe, expect, test } from '@jest/globals';
import { apiRecord } from '../../test/support/parts/asked-pipeline.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { hashName, nameFromText, nameToText } from '../dns/name.ts';
import { RRType } from '../dns/iana.ts';
import { LocalNames, LocalSource } from './local-name-table.ts';

const snapshot = openLists(
  [],
  {
    localRecords: [
      'nas.example A 192.0.2.1',
      'nas.example A 192.0.2.2',
      'nas.example A 192.0.2.3',
      'nas.example TXT hello',
      'a.b.zone.test A 192.0.2.4 @zone.test',
      '*.wild.test A 192.0.2.5 @wild.test',
      'www.nas.example CNAME nas.example',
      'away.nas.example CNAME elsewhere.example',
    ].map(apiRecord),
  },
  1,
);
const { local, rules } = snapshot;

/** The node of a name, looked up at an offset in a longer buffer. */
function nodeOf(name: string): number {
  const wire = nameFromText(name)!;
  const hash = { low: 0, high: 0 };
  hashName(wire, 0, rules.seedLow, rules.seedHigh, hash);
  return local.find(hash.low, hash.high, Buffer.concat([Buffer.alloc(3), wire]), 3, wire.length);
}

describe('LocalNames, the table of local records,', () => {
  test('rejects a buffer without local names of this layout', () => {
    expect(() => new LocalNames(new SharedArrayBuffer(64))).toThrow(RangeError);
  });
});

describe('LocalNames.find()', () => {
  test('returns the node with exactly the queried name', () => {
    for (const name of ['nas.example', 'a.b.zone.test', '*.wild.test'])
      expect(nameToText(local.bytes.subarray(local.nameAt(nodeOf(name))))).toBe(name);
    expect(['other', 'x.nas.example', 'nas.exampl'].map(nodeOf)).toEqual([0, 0, 0]);
  });

  test('compares the name itself if hashes are equal', () => {
    const wire = nameFromText('nas.example')!;
    const hash = { low: 0, high: 0 };
    hashName(wire, 0, rules.seedLow, rules.seedHigh, hash);
    expect(local.find(hash.low, hash.high, nameFromText('nas.examplf')!, 0, wire.length)).toBe(0);
    expect(local.find(hash.low, hash.high, wire, 0, wire.length - 1)).toBe(0);
    expect(local.find(hash.low, hash.high + 1, wire, 0, wire.length)).toBe(0);
  });
});

describe('LocalNames.exists()', () => {
  test('is true for names with records and for empty non-terminals below the zone', () => {
    expect(['nas.example', 'a.b.zone.test', 'b.zone.test'].map((name) => local.exists(nodeOf(name)))).toEqual(
      [true, true, true],
    );
  });
});

describe('LocalNames.wildcardBelow()', () => {
  test('returns the wildcard directly below a name', () => {
    expect(local.hasWildcards).toBe(true);
    expect(local.wildcardBelow(nodeOf('wild.test'))).toBe(nodeOf('*.wild.test'));
    expect(local.wildcardBelow(nodeOf('nas.example'))).toBe(0);
  });
});

describe('LocalNames.setOf(), the records of a type at a name,', () => {
  const node = nodeOf('nas.example');

  test('returns the record set of a type, and any record set for ANY', () => {
    expect(local.typeOf(local.setOf(node, RRType.TXT))).toBe(RRType.TXT);
    expect(local.typeOf(local.setOf(node, RRType.ANY))).toBe(RRType.A);
    expect(local.setOf(node, RRType.AAAA)).toBe(0);
  });

  test('returns the records of the type, their source and the node of the name', () => {
    const set = local.setOf(node, RRType.A);
    const addresses = [0, 1, 2].map((index) => {
      const at = local.rdataAt(set, index);
      return [...local.bytes.subarray(at, at + local.rdataLength(set, index))].join('.');
    });
    expect(local.countOf(set)).toBe(3);
    expect(addresses).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect([local.sourceOf(set), local.recordIdOf(set), local.nodeOf(set)]).toEqual([
      LocalSource.api,
      1,
      node,
    ]);
    expect(local.ttlSecsOf(set)).toBe(300);
  });
});

describe('LocalNames.targetOf(), the target of a local alias,', () => {
  test('is the node of a local alias target, and 0 if the target is not local', () => {
    const target = (name: string): number => local.targetOf(local.setOf(nodeOf(name), RRType.CNAME));
    expect(target('www.nas.example')).toBe(nodeOf('nas.example'));
    expect(target('away.nas.example')).toBe(0);
  });
});

describe('LocalNames.nextTurn(), the rotation of records,', () => {
  test('returns each record of a set as the first in turn, separately for each set', () => {
    const node = nodeOf('nas.example');
    const [addresses, texts] = [local.setOf(node, RRType.A), local.setOf(node, RRType.TXT)];
    const first = local.nextTurn(addresses);
    const turns = [1, 2, 3].map(() => [local.nextTurn(addresses), local.nextTurn(texts)]);
    expect(turns).toEqual([1, 2, 3].map((step) => [(first + step) % 3, 0]));
  });
});
