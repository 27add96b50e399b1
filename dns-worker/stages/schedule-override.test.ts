import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { query, Reply } from '../../test/support/dns/dns-message.ts';
import type { TypeSpec } from '../../test/support/dns/dns-message.ts';
import { openOverridden } from '../../test/support/parts/test-lists.ts';
import { parseQuery } from '../query/parse-query.ts';
import { Query, StageResult } from '../query/query.ts';
import { capTtlsToFlip } from '../respond/flip-ttl.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import { scheduleOverrideStage } from './schedule-override.ts';

const NOW_SECS = 1_800_000_000;

/** A query in its slot. */
function received({ rules }: OpenSnapshot, type: TypeSpec = 'A'): Query {
  const message = query('www.example.org', type, { edns: {} });
  const bytes = new Uint8Array(1500);
  bytes.set(message);
  const slot = new Query();
  slot.arrivedSecs = NOW_SECS;
  slot.begin(bytes, 0, message.length, 1232);
  parseQuery(slot, rules.seedLow, rules.seedHigh);
  return slot;
}

const replyOf = (slot: Query): Reply => new Reply(slot.bytes.slice(0, slot.replyLength), '');

describe('scheduleOverrideStage(), the answer by a schedule,', () => {
  test.each([
    ['null_ip', 'A', Rcode.NOERROR, ['0.0.0.0']],
    ['null_ip', 'AAAA', Rcode.NOERROR, ['::']],
    ['null_ip', 'TXT', Rcode.NOERROR, []],
    ['nxdomain', 'A', Rcode.NXDOMAIN, []],
    ['nodata', 'A', Rcode.NOERROR, []],
    ['refused', 'A', Rcode.REFUSED, []],
  ] as const)(
    'answers a query of a BlockAll schedule in blocking mode %s for type %s',
    (mode, type, rcode, data) => {
      const open = openOverridden({ override: 'BlockAll' }, { mode });
      const slot = received(open, type);
      expect(scheduleOverrideStage(slot, open)).toBe(StageResult.ANSWERED);
      const reply = replyOf(slot);
      expect([reply.rcode, reply.data, reply.extendedErrors]).toEqual([
        rcode,
        data,
        [ExtendedError.FILTERED],
      ]);
      expect(reply.authorities.map(({ type: found }) => found)).toEqual(
        data.length === 0 && mode !== 'refused' ? ['SOA'] : [],
      );
      expect(slot.status).toBe(QueryStatus.BLOCKED_SCHEDULE);
    },
  );

  test.each([
    ['192.0.2.9', '', { A: ['192.0.2.9'], AAAA: [], TXT: [] }],
    ['', '2001:db8::9', { A: [], AAAA: ['2001:db8::9'], TXT: [] }],
    ['192.0.2.9', '2001:db8::9', { A: ['192.0.2.9'], AAAA: ['2001:db8::9'], TXT: [] }],
  ] as const)(
    'answers with the custom addresses %j and %j; a family without an address is NODATA',
    (ipv4, ipv6, wanted) => {
      const open = openOverridden(
        { override: 'BlockAll' },
        { mode: 'custom_ip', customIpv4: ipv4, customIpv6: ipv6 },
      );
      for (const [type, data] of Object.entries(wanted)) {
        const slot = received(open, type as keyof typeof wanted);
        scheduleOverrideStage(slot, open);
        const reply = replyOf(slot);
        expect([type, reply.rcode, reply.data]).toEqual([type, Rcode.NOERROR, data]);
      }
    },
  );

  test.each([
    [{ override: 'AllowAll' }, {}, true],
    [{ override: null }, {}, false],
    [{ override: 'BlockAll' }, { enabled: false }, true],
    [{ override: null }, { enabled: false }, true],
  ] as const)(
    'does not answer for %j with %j, and sets whether the query is unfiltered',
    (group, blocking, isUnfiltered) => {
      const open = openOverridden(group, blocking);
      const slot = received(open);
      expect(scheduleOverrideStage(slot, open)).toBe(StageResult.CONTINUE);
      expect(slot.isUnfiltered).toBe(isUnfiltered);
    },
  );
});

describe('capTtlsToFlip(), which limits TTLs to the next schedule change,', () => {
  /**
   * TTL of a blocked answer (3000 s without a change) if the next change is in this many seconds, and whether OPT is
   * complete.
   */
  const ttlBefore = (flipInSecs: number | null, mode: 'null_ip' | 'nxdomain'): number => {
    const nextFlipAtSecs = flipInSecs === null ? 0 : NOW_SECS + flipInSecs;
    const open = openOverridden({ override: 'BlockAll', nextFlipAtSecs }, { mode, ttlSecs: 3000 });
    const slot = received(open);
    scheduleOverrideStage(slot, open);
    capTtlsToFlip(slot, open.policy);
    const reply = replyOf(slot);
    expect(reply.opt).toMatchObject({ udpSize: 1232, version: 0, extendedRcode: reply.rcode });
    return [...reply.answers, ...reply.authorities][0]!.ttl;
  };

  test.each([
    [null, 3000],
    [86_400 * 2, 3000],
    [3002, 3000],
    [3001, 3000],
    [3000, 2999],
    [60, 59],
    [1, 0],
    [0, 0],
    [-5, 0],
  ])('limits TTLs to a schedule change in %p seconds', (flipInSecs, ttlSecs) => {
    expect(ttlBefore(flipInSecs, 'null_ip')).toBe(ttlSecs);
    expect(ttlBefore(flipInSecs, 'nxdomain')).toBe(ttlSecs);
  });

  test('does not change a reply without records', () => {
    const open = openOverridden({ override: 'BlockAll', nextFlipAtSecs: NOW_SECS + 5 }, { mode: 'refused' });
    const slot = received(open);
    scheduleOverrideStage(slot, open);
    const before = slot.bytes.slice(0, slot.replyLength);
    capTtlsToFlip(slot, open.policy);
    expect(slot.bytes.slice(0, slot.replyLength)).toEqual(before);
  });
});
