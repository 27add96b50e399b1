import { describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import type { TypeSpec } from '../../test/support/dns/dns-message.ts';
import { apiRecord } from '../../test/support/parts/asked-pipeline.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { type Query, StageResult } from '../query/query.ts';
import { localNamesStage } from './local-names.ts';

const SNAPSHOT = openLists([], {
  localRecords: [
    'nas.home.example A 192.168.1.5',
    'nas.home.example A 192.168.1.6',
    'nas.home.example A 192.168.1.7',
    'www.home.example CNAME nas.home.example',
    'far.home.example CNAME www.example.org',
    '*.wild.home.example A 192.168.1.9',
    'a.deep.wild.home.example A 192.168.1.10',
    'one.loop.example CNAME two.loop.example',
  ].map(apiRecord),
});
const EMPTY = openLists([]);

function asked(name: string, type: TypeSpec = 'A', facts: Partial<Query> = {}): [number, Query] {
  const slot = Object.assign(slotQuery(SNAPSHOT, name, type), facts);
  return [localNamesStage(slot, SNAPSHOT, null), slot];
}

describe('localNamesStage, the answer from local records,', () => {
  test.each([
    ['nas.home.example', true],
    ['x.wild.home.example', true],
    ['x.y.wild.home.example', true],
    ['a.b.c.d.e.f.wild.home.example', true],
    ['a.deep.wild.home.example', true],
    ['x.deep.wild.home.example', true],
    ['x.a.deep.wild.home.example', true],
    ['_x.wild.home.example', false],
    ['x._y.wild.home.example', true],
    ['other.home.example', false],
    ['x.nas.home.example', false],
    ['example.org', false],
  ])('answers %s from local records: %p', (name, isKnown) => {
    expect(asked(name)[0] !== StageResult.CONTINUE).toBe(isKnown);
    expect(localNamesStage(slotQuery(EMPTY, name), EMPTY, null)).toBe(StageResult.CONTINUE);
  });

  test('answers with all records of an RRset, and rotates the first record', () => {
    const turns = [1, 2, 3].map(() => {
      const [result, slot] = asked('nas.home.example');
      expect([result, slot.status]).toEqual([StageResult.ANSWERED, QueryStatus.LOCAL]);
      expect(replyIn(slot).message.flag_aa).toBe(true);
      return replyIn(slot).data;
    });
    for (const data of turns) expect([...data].sort()).toEqual(['192.168.1.5', '192.168.1.6', '192.168.1.7']);
    expect(new Set(turns.map(([first]) => first)).size).toBe(3);
  });

  test('answers NODATA for a type without a record at a local name', () => {
    const [result, slot] = asked('nas.home.example', 'TXT');
    expect(result).toBe(StageResult.ANSWERED);
    expect([replyIn(slot).rcode, replyIn(slot).answers]).toEqual([Rcode.NOERROR, []]);
    expect(replyIn(slot).authorities).toMatchObject([{ type: 'SOA', ttl: 60, name: 'nas.home.example' }]);
  });

  test('follows an alias to another local name', () => {
    const [result, slot] = asked('www.home.example');
    expect(result).toBe(StageResult.ANSWERED);
    const [alias, ...addresses] = replyIn(slot).answers;
    expect(alias).toMatchObject({ name: 'www.home.example', type: 'CNAME', data: 'nas.home.example' });
    expect(addresses.map(({ name, type }) => `${name} ${type}`)).toEqual(Array(3).fill('nas.home.example A'));
    expect(slot).toMatchObject({ answersCount: 4, aliasLength: 0 });
  });

  test('answers NODATA after an alias, with a SOA for the alias target', () => {
    const [, slot] = asked('www.home.example', 'TXT');
    expect(replyIn(slot).answers).toMatchObject([{ type: 'CNAME' }]);
    expect(replyIn(slot).authorities).toMatchObject([{ type: 'SOA', name: 'nas.home.example' }]);
  });

  test('answers with an alias whose target is not local, which is then resolved', () => {
    const [result, slot] = asked('far.home.example');
    expect(result).toBe(StageResult.UNRESOLVED);
    expect(nameToText(slot.alias.subarray(0, slot.aliasLength))).toBe('www.example.org');
    expect(slot).toMatchObject({ status: QueryStatus.LOCAL, answersCount: 1 });
  });

  test('does not answer names without a local record', () => {
    expect(asked('example.org')[0]).toBe(StageResult.CONTINUE);
  });

  test.each([
    ['a record', 'nas.home.example', 40],
    ['an alias', 'far.home.example', 20],
  ])('answers with TC if the slot is too small for %s', (_what, name, capacity) => {
    const slot = slotQuery(SNAPSHOT, name);
    slot.capacity = slot.questionEnd + capacity;
    expect(localNamesStage(slot, SNAPSHOT, null)).toBe(StageResult.ANSWERED);
    expect(replyIn(slot)).toMatchObject({ truncated: true, answers: [] });
  });

  test('fills the slot to its last byte', () => {
    const slot = slotQuery(SNAPSHOT, 'nas.home.example');
    slot.capacity = slot.questionEnd + 3 * 16;
    localNamesStage(slot, SNAPSHOT, null);
    expect(replyIn(slot).data).toHaveLength(3);
  });

  test('reports the alias and the record set to a recorder', () => {
    const met: number[] = [];
    const slot = slotQuery(SNAPSHOT, 'www.home.example');
    localNamesStage(slot, SNAPSHOT, { met: (origin) => met.push(origin) });
    expect(met).toEqual([RuleOrigin.LOCAL, RuleOrigin.LOCAL]);
  });
});
