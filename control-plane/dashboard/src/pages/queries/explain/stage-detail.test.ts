import { describe, expect, test } from '@jest/globals';
import { DNSSEC_STATUS_NAMES } from '../../../../../../shared/query-log.ts';
import type { ExplainedStageName } from '../../../../../../shared/threads/explanation.ts';
import english from '../../../i18n/en.json' with { type: 'json' };
import { stageDetail } from './stage-detail.ts';

/** Every stage; the compiler reports a missing one. */
const STAGES: Readonly<Record<ExplainedStageName, true>> = {
  ...{ admission: true, client_group: true, access: true, question_checks: true, grants: true },
  ...{ schedule_override: true, local_names: true, no_ipv6: true, special_names: true, services: true },
  ...{ policy: true, any_type: true, safe_search: true, cache: true, forward: true, dnssec: true },
  ...{ answer_names: true, rebinding: true },
};

test('each stage in an explanation has a translated name', () => {
  const named = Object.keys(english);
  expect(Object.keys(STAGES).filter((stage) => !named.includes(`queries.stage.${stage}`))).toEqual([]);
});

describe('stageDetail(), the text about a stage of an explanation,', () => {
  test.each([
    ['default', [{ key: 'queries.groupBy.default', of: '' }]],
    ['mac 192.0.2.21', [{ key: 'queries.groupBy.mac', of: '192.0.2.21' }]],
    ['subnet 2001:db8::/32', [{ key: 'queries.groupBy.subnet', of: '2001:db8::/32' }]],
    ['key tablet', [{ key: 'queries.groupBy.key', of: 'tablet' }]],
    ['chosen', [{ key: 'queries.groupBy.chosen', of: '' }]],
    [
      'default (no client has the key tablet)',
      [
        { key: 'queries.groupBy.default', of: '' },
        { key: 'queries.why.keyUnknown', of: 'tablet' },
      ],
    ],
    [
      'subnet 192.0.2.0/24 (the client of this key has no group: tablet)',
      [
        { key: 'queries.groupBy.subnet', of: '192.0.2.0/24' },
        { key: 'queries.why.keyNoGroup', of: 'tablet' },
      ],
    ],
    ['default (of a later release)', null],
    ['elsewhere', null],
  ])('describes the group assignment "%s"', (detail, words) => {
    expect(stageDetail('client_group', detail)).toEqual(words);
  });

  test('describes the remaining TTL of an answer in the cache', () => {
    expect(stageDetail('cache', 'ttl 90')).toEqual([{ key: 'queries.why.cacheTtl', of: '', secs: 90 }]);
  });

  test('describes the locally served zone of a special name', () => {
    expect(stageDetail('special_names', 'zone lan')).toEqual([{ key: 'queries.why.ownZone', of: 'lan' }]);
  });

  test('states the numbers of a rate limit, or that no limit is set, and is null for an unknown text', () => {
    expect(stageDetail('admission', 'no rate limit')).toEqual([{ key: 'queries.why.noLimit', of: '' }]);
    const counts = { rate: 20, burst: 50 };
    expect(stageDetail('admission', 'rate limit 20/s, burst 50')).toEqual([
      { key: 'queries.why.limit', of: '', counts },
    ]);
    expect(stageDetail('admission', 'rate limit 20/s, burst 50, dry run')).toEqual([
      { key: 'queries.why.limitDryRun', of: '', counts },
    ]);
    expect(stageDetail('admission', 'rate limit of a later release')).toBeNull();
  });

  test('states whether the client may query, and is null for an unknown refusal', () => {
    expect(stageDetail('access', 'may query this server')).toEqual([{ key: 'queries.access.may', of: '' }]);
    expect(
      stageDetail('access', 'may not query this server (dns.allowed_clients, dns.blocked_clients)'),
    ).toEqual([{ key: 'queries.access.mayNot', of: '' }]);
    expect(stageDetail('access', 'may not query this server (dns.allowed_clients)')).toBeNull();
  });

  test.each([
    ['BlockAll', [{ key: 'schedules.action.block', of: '' }]],
    ['None; blocking is disabled', [{ key: 'queries.why.blockingOff', of: '' }]],
    [
      'AllowAll; blocking is disabled',
      [
        { key: 'schedules.action.allow', of: '' },
        { key: 'queries.why.blockingOff', of: '' },
      ],
    ],
    ['default', null],
  ])('describes the schedule "%s"', (detail, words) => {
    expect(stageDetail('schedule_override', detail)).toEqual(words);
  });

  test.each([
    ['a grant or the schedule allows everything', 'queries.why.safeFreed'],
    ["a list's exception allows the name", 'queries.why.safeList'],
    ['an allow rule allows the name', 'queries.why.safeRule'],
  ])('states that safe search is not enforced, because %s', (reason, key) => {
    expect(stageDetail('safe_search', `google (strict), not enforced: ${reason}`)).toEqual([
      { key, of: 'google (strict)' },
    ]);
  });

  test.each(DNSSEC_STATUS_NAMES)('has a message for the DNSSEC status %s', (status) => {
    expect(stageDetail('dnssec', status)).toEqual([{ key: `queries.dnssec.${status}`, of: '' }]);
  });

  test.each(['safe_search', 'forward', 'toString', '__proto__'])(
    'is null for an unknown detail of the stage %s',
    (stage) => {
      expect(stageDetail(stage, 'google (strict)')).toBeNull();
    },
  );

  test('uses only message keys that exist', () => {
    const details = [
      ...['default', 'subnet 192.0.2.0/24', 'manual 192.0.2.1', 'mac 192.0.2.1', 'key tablet', 'chosen'].map(
        (source) => ['client_group', source] as const,
      ),
      ...DNSSEC_STATUS_NAMES.map((status) => ['dnssec', status] as const),
    ];
    const used = details.flatMap(([stage, detail]) => stageDetail(stage, detail)!.map(({ key }) => key));
    expect(used.filter((key) => !(key in english))).toEqual([]);
    expect(used).toHaveLength(details.length);
  });
});
