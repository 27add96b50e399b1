import { describe, expect, test } from '@jest/globals';
import { hashName, nameFromText, nameToText } from '../../../../shared/dns/name.ts';
import { RRType } from '../../../../shared/dns/iana.ts';
import { LocalNames, LocalSource } from '../../../../shared/snapshot/local-name-table.ts';
import { NOTHING_LIVE } from '../../change/runtime-state.ts';
import type { PolicyLocalRecord } from '../../change/rows.ts';
import { buildLocalNames } from './local-names-builder.ts';
import { buildLocalTree } from './local-tree.ts';
import { localRecords } from './snapshot-records.ts';

const SEEDS = { low: 11, high: -22 };

type RecordText = readonly [fqdn: string, type: PolicyLocalRecord['type'], value: string, ttlSecs?: number];

/** The table of these API records, whose ids are 1, 2 and so on. */
function tableOf(texts: readonly RecordText[], domain = ''): LocalNames {
  const rows = texts.map(([fqdn, type, value, ttlSecs = 300], at) => ({
    ...{ id: at + 1, domain, fqdn, type, value, ttlSecs },
  }));
  const records = localRecords({ localRecords: rows }, NOTHING_LIVE);
  return new LocalNames(buildLocalNames(buildLocalTree(records), SEEDS));
}

/** The node of a name; 0 = none. */
function find(names: LocalNames, text: string): number {
  const name = nameFromText(text)!;
  const hash = { low: 0, high: 0 };
  hashName(name, 0, SEEDS.low, SEEDS.high, hash);
  return names.find(hash.low, hash.high, name, 0, name.length);
}

/** RDATA of a set, in hexadecimal. */
function rdataOf(names: LocalNames, set: number): string[] {
  return Array.from({ length: names.countOf(set) }, (_, index) => {
    const at = names.rdataAt(set, index);
    return Buffer.from(names.bytes.slice(at, at + names.rdataLength(set, index))).toString('hex');
  });
}

describe('buildLocalNames()', () => {
  test('keeps each record set of a name, with the lowest TTL and the ID of its first record', () => {
    const names = tableOf([
      ['nas.example', 'A', '192.0.2.5', 300],
      ['nas.example', 'TXT', 'odd', 60],
      ['nas.example', 'A', '192.0.2.6', 20],
    ]);
    const node = find(names, 'nas.example');
    expect(nameToText(names.bytes.subarray(names.nameAt(node)))).toBe('nas.example');
    const [a, txt] = [names.setOf(node, RRType.A), names.setOf(node, RRType.TXT)];
    expect([rdataOf(names, a), rdataOf(names, txt)]).toEqual([['c0000205', 'c0000206'], ['036f6464']]);
    expect([names.ttlSecsOf(a), names.ttlSecsOf(txt)]).toEqual([20, 60]);
    expect([names.recordIdOf(a), names.recordIdOf(txt)]).toEqual([1, 2]);
    expect([names.sourceOf(a), names.nodeOf(txt)]).toEqual([LocalSource.api, node]);
    expect(names.setOf(node, RRType.AAAA)).toBe(0);
    expect([a, a, a, txt].map((set) => names.nextTurn(set))).toEqual([0, 1, 0, 0]);
  });

  test('builds a table in which all of many names are found, and no other names', () => {
    const texts = Array.from({ length: 500 }, (_, at) => [`n${at}.example`, 'TXT', `${at}`] as const);
    const names = tableOf(texts);
    for (const [name, , value] of texts) {
      const [rdata] = rdataOf(names, names.setOf(find(names, name), RRType.TXT));
      expect(Buffer.from(rdata!, 'hex').toString('latin1', 1)).toBe(value);
    }
    expect([find(names, 'n500.example'), find(names, 'a.n1.example')]).toEqual([0, 0]);
    expect([names.maxLabels, names.hasWildcards]).toEqual([2, false]);
  });

  test('resolves a CNAME only to the node of its target, also through a wildcard', () => {
    const names = tableOf([
      ['www.example', 'CNAME', 'nas.example'],
      ['away.example', 'CNAME', 'elsewhere.test'],
      ['any.example', 'CNAME', 'x.wild.example'],
      ['nas.example', 'A', '192.0.2.5'],
      ['*.wild.example', 'A', '192.0.2.6'],
    ]);
    const target = (name: string): number => names.targetOf(names.setOf(find(names, name), RRType.CNAME));
    expect(target('www.example')).toBe(find(names, 'nas.example'));
    expect(target('away.example')).toBe(0);
    expect(target('any.example')).toBe(find(names, '*.wild.example'));
    expect(names.hasWildcards).toBe(true);
    expect(names.wildcardBelow(find(names, 'wild.example'))).toBe(find(names, '*.wild.example'));
    expect(names.wildcardBelow(find(names, 'nas.example'))).toBe(0);
  });

  test('marks names between a record and its zone as existing, but not names above the zone', () => {
    const names = tableOf([['a.b.example', 'A', '192.0.2.5']], 'example');
    expect(['a.b.example', 'b.example', 'example'].map((name) => names.exists(find(names, name)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('returns the number of names, their depth, and whether there are wildcards', () => {
    const names = tableOf([
      ['a.b.c.example', 'TXT', 'deep'],
      ['nas.example', 'TXT', 'flat'],
    ]);
    // The nodes include the parent names b.c.example, c.example and example.
    expect([names.nodeCount, names.maxLabels, names.hasWildcards]).toEqual([5, 4, false]);
    expect(tableOf([['*.nas.example', 'TXT', 'any']]).hasWildcards).toBe(true);
  });

  test('contains the complete data of every record, also at the end of the table', () => {
    for (let length = 1; length <= 9; length++) {
      const value = 'x'.repeat(length);
      const names = tableOf([
        ['nas', 'MX', '10 a.example'],
        ['nas', 'TXT', `${value}y`],
        ['nas', 'TXT', `${value}z`],
      ]);
      const set = names.setOf(find(names, 'nas'), RRType.TXT);
      const ends = rdataOf(names, set).map((hex) => Buffer.from(hex, 'hex').subarray(1).toString());
      expect(ends).toEqual([`${value}y`, `${value}z`]);
      const last = names.rdataAt(set, 1) + length + 2;
      expect(names.bytes.length - last).toBeLessThan(4);
    }
  });

  test('builds an empty table in which no name is found', () => {
    const names = tableOf([]);
    expect([names.nodeCount, find(names, 'nas.example')]).toEqual([0, 0]);
  });
});
