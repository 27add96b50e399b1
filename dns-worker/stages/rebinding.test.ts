import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { FlagsHigh } from '../../shared/dns/wire.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { a, wireName } from '../../test/support/dns/built-messages.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { putAnswer, replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { type Query, StageResult } from '../query/query.ts';
import { rebindingStage } from './rebinding.ts';

/** A snapshot that blocks private addresses, except for names below home.example. */
function opened(isOn: boolean, override: 'AllowAll' | 'BlockAll' | null = null) {
  const rebinding = { isOn, exempt: [wireName('home.example')] };
  const overrides = new Map([[1, { override, nextFlipAtSecs: 0 }]]);
  return openSnapshot(snapshotOf([], {}, 1, { names: { ...NO_NAME_RULES, rebinding }, overrides }));
}

function passed(name: string, facts: Partial<Query>, snapshot = opened(true)): [number, Query] {
  const slot = slotQuery(snapshot, name, 'A', { edns: {} });
  putAnswer(slot, name, 'A', [a(name, '192.168.1.5')]);
  const found = { hasPrivateAddress: true, partition: POOLS_PARTITION, cached: 1, replyFlags: FlagsHigh.AA };
  return [rebindingStage(Object.assign(slot, found, facts), snapshot), slot];
}

describe('rebindingStage, the protection against DNS rebinding,', () => {
  test('returns NODATA for a public name with a private address', () => {
    const [result, slot] = passed('www.example.org', {});
    expect(result).toBe(StageResult.ANSWERED);
    const reply = replyIn(slot);
    expect([reply.rcode, reply.answers, reply.extendedErrors]).toEqual([
      Rcode.NOERROR,
      [],
      [ExtendedError.BLOCKED],
    ]);
    expect(reply.authorities).toMatchObject([{ type: 'SOA', ttl: 10 }]);
    expect(reply.message.flag_aa).toBe(false);
    expect(slot).toMatchObject({ status: QueryStatus.BLOCKED_REBIND, cached: 0, answersCount: 0 });
  });

  test.each([
    ['an answer without private addresses', 'www.example.org', { hasPrivateAddress: false }, opened(true)],
    ['an answer of a forward zone', 'www.example.org', { partition: 3 }, opened(true)],
    ['any answer where that is switched off', 'www.example.org', {}, opened(false)],
    ['an exempt name', 'home.example', {}, opened(true)],
    ['a name below an exempt one', 'nas.home.example', {}, opened(true)],
    ['what a schedule allows', 'www.example.org', {}, opened(true, 'AllowAll')],
  ] as const)('does not change %s', (_what, name, facts, snapshot) => {
    const [result, slot] = passed(name, facts, snapshot);
    expect(result).toBe(StageResult.CONTINUE);
    expect(replyIn(slot).data).toEqual(['192.168.1.5']);
    expect(slot).toMatchObject({ cached: 1, answersCount: 1, status: 0 });
  });
});
