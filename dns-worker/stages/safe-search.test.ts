import { describe, expect, test } from '@jest/globals';
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { type SafeEngine, SafeSearchMode } from '../../shared/snapshot/safe-search-modes.ts';
import type { TypeSpec } from '../../test/support/dns/dns-message.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { type Query, StageResult } from '../query/query.ts';
import { finishReply } from '../respond/reply.ts';
import { safeSearchDetail, safeSearchStage } from './safe-search.ts';

const address = (text: string) => ({ cname: null, ipv4: Uint8Array.from(text.split('.').map(Number)) });
const alias = (text: string) => ({ cname: wireName(text), ipv4: null });
const ENGINES: SafeEngine[] = [
  {
    id: 'search',
    names: [wireName('www.search.example')],
    moderate: alias('moderate.search.example'),
    strict: alias('strict.search.example'),
  },
  {
    id: 'images',
    names: [wireName('images.example')],
    moderate: address('192.0.2.1'),
    strict: address('192.0.2.2'),
  },
];

function opened(modes: readonly number[], override: 'AllowAll' | 'BlockAll' | null = null) {
  const mask = modes.reduce((bits, mode, engine) => bits | (mode << (engine * 2)), 0);
  const safeSearch = { engines: ENGINES, groups: [{ id: 1, mask }] };
  const overrides = new Map([[1, { override, nextFlipAtSecs: 0 }]]);
  return openSnapshot(snapshotOf([], {}, 1, { names: { ...NO_NAME_RULES, safeSearch }, overrides }));
}

const { off, moderate, strict } = SafeSearchMode;
const STRICT = opened([strict, strict]);

function asked(name: string, type: TypeSpec, snapshot = STRICT, facts: Partial<Query> = {}): [number, Query] {
  const slot = Object.assign(slotQuery(snapshot, name, type), facts);
  return [safeSearchStage(slot, snapshot), slot];
}

const targetOf = (slot: Query): string => nameToText(slot.alias.subarray(0, slot.aliasLength));

describe('safeSearchStage, the redirection to safe search,', () => {
  test.each([
    ['A', strict, 'strict.search.example'],
    ['AAAA', strict, 'strict.search.example'],
    ['A', moderate, 'moderate.search.example'],
  ] as const)('answers %s of a search engine with its safe alias, mode %i', (type, mode, target) => {
    const [result, slot] = asked('www.search.example', type, opened([mode, off]));
    expect(result).toBe(StageResult.UNRESOLVED);
    expect(targetOf(slot)).toBe(target);
    expect(slot).toMatchObject({ status: QueryStatus.SAFE_SEARCH, answersCount: 1 });
    finishReply(slot, Rcode.NOERROR, slot.answersAt + slot.answersLength);
    expect(replyIn(slot).answers).toMatchObject([
      { name: 'www.search.example', type: 'CNAME', data: target, ttl: 300 },
    ]);
  });

  test('answers a CNAME query with the alias alone', () => {
    const [result, slot] = asked('www.search.example', RRType.CNAME);
    expect(result).toBe(StageResult.ANSWERED);
    expect(replyIn(slot).answers).toMatchObject([{ type: 'CNAME', data: 'strict.search.example' }]);
    expect(slot.aliasLength).toBe(0);
  });

  test.each(['HTTPS', 'SVCB'] as const)('answers type %s of a search engine with NODATA', (type) => {
    const [result, slot] = asked('www.search.example', type);
    expect(result).toBe(StageResult.ANSWERED);
    const reply = replyIn(slot);
    expect([reply.rcode, reply.answers]).toEqual([Rcode.NOERROR, []]);
    expect(reply.authorities).toMatchObject([{ type: 'SOA', ttl: 300 }]);
    expect(slot.status).toBe(QueryStatus.SAFE_SEARCH);
  });

  test.each([
    ['A', strict, ['192.0.2.2']],
    ['A', moderate, ['192.0.2.1']],
    ['AAAA', strict, []],
    ['HTTPS', strict, []],
  ] as const)('answers %s of a search engine without safe alias, mode %i', (type, mode, data) => {
    const [result, slot] = asked('images.example', type, opened([off, mode]));
    expect(result).toBe(StageResult.ANSWERED);
    expect(replyIn(slot).data).toEqual(data);
  });

  test.each([
    ['another name', 'search.example', 'A', STRICT, {}],
    ['a name below', 'a.www.search.example', 'A', STRICT, {}],
    ['an engine that the group does not enforce', 'www.search.example', 'A', opened([off, strict]), {}],
    ['a name that a rule allows', 'www.search.example', 'A', STRICT, { isAllowed: true }],
    ['what a schedule allows', 'www.search.example', 'A', opened([strict, strict], 'AllowAll'), {}],
    ['types that lead to no web server', 'www.search.example', 'TXT', STRICT, {}],
    ['NS', 'www.search.example', 'NS', STRICT, {}],
  ] as const)('does not answer %s', (_what, name, type, snapshot, facts) => {
    const [result, slot] = asked(name, type, snapshot, facts);
    expect(result).toBe(StageResult.CONTINUE);
    expect(slot).toMatchObject({ status: 0, answersCount: 0 });
  });

  test.each([
    ['another name', 'search.example', STRICT, {}, undefined],
    ['what it enforces', 'www.search.example', STRICT, {}, /^\S+ \(strict\)$/],
    [
      'an allow rule',
      'www.search.example',
      STRICT,
      { isAllowed: true },
      /not enforced: an allow rule allows the name$/,
    ],
    [
      "a list's exception",
      'www.search.example',
      STRICT,
      { isAllowed: true, isAllowedByList: true },
      /not enforced: a list's exception allows the name$/,
    ],
    [
      'a schedule',
      'www.search.example',
      opened([strict, strict], 'AllowAll'),
      {},
      /not enforced: a grant or the schedule/,
    ],
  ] as const)('safeSearchDetail() gives an explanation for %s', (_what, name, snapshot, facts, detail) => {
    const text = safeSearchDetail(asked(name, 'A', snapshot, facts)[1], snapshot);
    expect(text).toEqual(detail && expect.stringMatching(detail));
  });

  test('answers with TC if the slot is too small for the alias', () => {
    const slot = slotQuery(STRICT, 'www.search.example', 'A');
    slot.capacity = slot.questionEnd + 20;
    expect(safeSearchStage(slot, STRICT)).toBe(StageResult.ANSWERED);
    expect(replyIn(slot)).toMatchObject({ truncated: true, answers: [] });
  });
});
