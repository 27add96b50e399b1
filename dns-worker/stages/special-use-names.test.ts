import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import type { TypeSpec } from '../../test/support/dns/dns-message.ts';
import { apiRecord } from '../../test/support/parts/asked-pipeline.ts';
import { replyIn, slotQuery } from '../../test/support/parts/slot-query.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { type Query, StageResult } from '../query/query.ts';
import { NO_IDENTITY, ServerIdentity } from '../policy/server-identity.ts';
import { specialUseNamesStage } from './special-use-names.ts';

const ALL = Object.values(QuestionFlag).reduce((bits, flag) => bits | flag, 0);
const without = (flag: number): number => ALL & ~flag;

function asked(
  questionFlags: number,
  name: string,
  type: TypeSpec = 'A',
  override: 'AllowAll' | null = null,
  designated: readonly Uint8Array[] = [],
): [number, Query] {
  const overrides = new Map([[1, { override, nextFlipAtSecs: 0 }]]);
  const snapshot = openSnapshot(snapshotOf([], {}, 1, { questionFlags, overrides }));
  const slot = slotQuery(snapshot, name, type, { edns: {} });
  const identity = new ServerIdentity({ ...NO_IDENTITY, designated });
  return [specialUseNamesStage(slot, snapshot, identity), slot];
}

describe('specialUseNamesStage, the answer for special-use names,', () => {
  test('answers _dns.resolver.arpa with its own encrypted resolvers (RFC 9462)', () => {
    const records = [Uint8Array.of(0, 1, 1, 97, 0), Uint8Array.of(0, 2, 1, 98, 0)];
    const [result, slot] = asked(ALL, '_dns.resolver.arpa', 'SVCB', null, records);
    expect([result, slot.status, slot.answersCount]).toEqual([StageResult.ANSWERED, QueryStatus.LOCAL, 2]);
    expect(replyIn(slot).answers.map(({ data }) => [...(data as Uint8Array)])).toEqual(
      records.map((rdata) => [...rdata]),
    );
    // Other types and names have no records.
    expect(replyIn(asked(ALL, '_dns.resolver.arpa', 'A', null, records)[1]).answers).toEqual([]);
    expect(replyIn(asked(ALL, 'resolver.arpa', 'SVCB', null, records)[1]).answers).toEqual([]);
  });

  test.each([
    ['localhost', 'A', ['127.0.0.1']],
    ['a.b.localhost', 'AAAA', ['::1']],
    ['localhost', 'TXT', []],
    ['1.0.0.127.in-addr.arpa', 'PTR', ['localhost']],
    ['1.0.0.127.in-addr.arpa', 'A', []],
  ] as const)('answers %s %s locally', (name, type, data) => {
    const [result, slot] = asked(ALL, name, type);
    expect([result, slot.status]).toEqual([StageResult.ANSWERED, QueryStatus.LOCAL]);
    const reply = replyIn(slot);
    expect([reply.rcode, reply.data]).toEqual([Rcode.NOERROR, data]);
    expect([...reply.answers, ...reply.authorities].map(({ ttl }) => ttl)).toEqual([300]);
    expect(reply.extendedErrors).toEqual([]);
  });

  test.each([
    ['SPECIAL_NAMES', 'localhost', 'A'],
    ['SPECIAL_NAMES', 'www.example.test', 'A'],
    ['SPECIAL_NAMES', 'router.home.arpa', 'A'],
    ['SPECIAL_NAMES', '_dns.resolver.arpa', 'SVCB'],
    ['BLOCK_PRIVATE_PTR', '1.0.0.10.in-addr.arpa', 'PTR'],
    ['NEVER_FORWARD_REVERSE', '8.8.8.8.in-addr.arpa', 'PTR'],
    ['DOH_CANARY', 'use-application-dns.net', 'A'],
    ['PRIVATE_RELAY_CANARY', 'mask.icloud.com', 'A'],
    ['PRIVATE_RELAY_CANARY', 'mask-h2.icloud.com', 'A'],
  ] as const)('does not answer if %s is disabled: %s %s', (flag, name, type) => {
    const others =
      QuestionFlag.BLOCK_NON_FQDN | QuestionFlag.NEVER_FORWARD_NON_FQDN | QuestionFlag.NEVER_FORWARD_REVERSE;
    expect(asked(ALL, name, type)[0]).toBe(StageResult.ANSWERED);
    expect(asked(without(QuestionFlag[flag]) & ~others, name, type)[0]).toBe(StageResult.CONTINUE);
  });

  test.each([
    ['BLOCKED_NON_FQDN', ALL, 'printer', 'A', QueryStatus.BLOCKED_NON_FQDN],
    ['BLOCKED_PTR', ALL, '1.0.0.10.in-addr.arpa', 'PTR', QueryStatus.BLOCKED_PTR],
    ['LOCAL', ALL, 'use-application-dns.net', 'A', QueryStatus.LOCAL],
  ] as const)('blocks a query with status %s', (_status, flags, name, type, status) => {
    const [result, slot] = asked(flags, name, type);
    expect([result, slot.status]).toEqual([StageResult.ANSWERED, status]);
    expect([replyIn(slot).rcode, replyIn(slot).extendedErrors]).toEqual([
      Rcode.NXDOMAIN,
      [ExtendedError.BLOCKED],
    ]);
  });

  test.each([
    ['names without a dot', QuestionFlag.NEVER_FORWARD_NON_FQDN, 'printer', 'A'],
    ['reserved names', QuestionFlag.SPECIAL_NAMES, 'invalid', 'A'],
    ['reverse names', QuestionFlag.NEVER_FORWARD_REVERSE, '8.8.8.8.in-addr.arpa', 'PTR'],
    ['reserved reverse names', QuestionFlag.SPECIAL_NAMES, '1.2.0.192.in-addr.arpa', 'PTR'],
  ] as const)('answers NXDOMAIN for %s, with status LOCAL', (_what, flag, name, type) => {
    const [result, slot] = asked(flag, name, type);
    expect([result, slot.status]).toEqual([StageResult.ANSWERED, QueryStatus.LOCAL]);
    expect([replyIn(slot).rcode, replyIn(slot).extendedErrors]).toEqual([Rcode.NXDOMAIN, []]);
  });

  test.each(['A', 'AAAA', 'HTTPS', 'TXT', 'PTR', 'MX', 'ANY'] as const)(
    'blocks %s queries for a single-label name',
    (type) => {
      const [result, slot] = asked(QuestionFlag.BLOCK_NON_FQDN, 'printer', type);
      expect([result, slot.status]).toEqual([StageResult.ANSWERED, QueryStatus.BLOCKED_NON_FQDN]);
    },
  );

  test.each([
    ['BLOCK_NON_FQDN', 'lan', Rcode.NOERROR],
    ['NEVER_FORWARD_NON_FQDN', 'lan', Rcode.NOERROR],
    ['NEVER_FORWARD_NON_FQDN', 'home', Rcode.NOERROR],
    ['NEVER_FORWARD_NON_FQDN', 'nas', Rcode.NXDOMAIN],
  ] as const)('with %s answers %s, which overrides local records, with RCODE %p', (flag, name, rcode) => {
    const localRecords = ['nas.lan A 192.168.1.5', '*.home A 192.168.1.6'].map(apiRecord);
    const questionFlags = QuestionFlag[flag];
    const snapshot = openSnapshot(snapshotOf([], { localRecords }, 1, { questionFlags }));
    const slot = slotQuery(snapshot, name);
    expect(specialUseNamesStage(slot, snapshot, new ServerIdentity())).toBe(StageResult.ANSWERED);
    expect([replyIn(slot).rcode, slot.status]).toEqual([rcode, QueryStatus.LOCAL]);
  });

  test.each(['NS', 'SOA', 'DS', 'DNSKEY'] as const)(
    'does not answer %s queries for a top-level domain',
    (type) => {
      expect(asked(ALL, 'org', type)[0]).toBe(StageResult.CONTINUE);
      expect(asked(ALL, 'org', 'A')[0]).toBe(StageResult.ANSWERED);
    },
  );

  test.each([
    ['.', 'NS'],
    ['www.example.org', 'A'],
    ['example.com', 'A'],
    ['xuse-application-dns.net', 'A'],
    ['a.mask.icloud.com', 'A'],
    ['8.8.8.8.in-addr.arpa', 'A'],
  ] as const)('does not answer %s %s', (name, type) => {
    expect(asked(ALL, name, type)[0]).toBe(StageResult.CONTINUE);
  });

  test('does not block while a schedule allows everything, but answers reserved names', () => {
    for (const name of ['printer', 'use-application-dns.net', 'mask.icloud.com'])
      expect(asked(without(QuestionFlag.NEVER_FORWARD_NON_FQDN), name, 'A', 'AllowAll')[0]).toBe(
        StageResult.CONTINUE,
      );
    const reverse = '1.0.0.10.in-addr.arpa';
    expect(asked(without(QuestionFlag.NEVER_FORWARD_REVERSE), reverse, 'PTR', 'AllowAll')[0]).toBe(
      StageResult.CONTINUE,
    );
    expect(asked(ALL, reverse, 'TXT', 'AllowAll')[0]).toBe(StageResult.ANSWERED);
    expect(asked(ALL, 'a.test', 'A', 'AllowAll')[0]).toBe(StageResult.ANSWERED);
  });
});
