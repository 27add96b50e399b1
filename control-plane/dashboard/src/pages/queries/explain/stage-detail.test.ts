import { describe, expect, test } from '@jest/globals';
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

test('each stage of an explanation has a name', () => {
  const named = Object.keys(english);
  expect(Object.keys(STAGES).filter((stage) => !named.includes(`queries.stage.${stage}`))).toEqual([]);
});

describe('stageDetail()', () => {
  test.each([
    ['default', { key: 'queries.groupBy.default', of: '' }],
    ['mac 192.0.2.21', { key: 'queries.groupBy.mac', of: '192.0.2.21' }],
    ['subnet 2001:db8::/32', { key: 'queries.groupBy.subnet', of: '2001:db8::/32' }],
    ['key tablet', { key: 'queries.groupBy.key', of: 'tablet' }],
    ['chosen', { key: 'queries.groupBy.chosen', of: '' }],
    ['default (no client has the key tablet)', null],
  ])('describes the assignment "%s" of a group', (detail, words) => {
    expect(stageDetail('client_group', detail)).toEqual(words);
  });

  test('of the cache contains the remaining time of an answer', () => {
    expect(stageDetail('cache', 'ttl 90')).toEqual({ key: 'queries.why.cacheTtl', of: '', secs: 90 });
  });

  test('of special names contains the zone that is answered here', () => {
    expect(stageDetail('special_names', 'zone lan')).toEqual({ key: 'queries.why.ownZone', of: 'lan' });
  });

  test('of access states that the client may query, and shows a refusal unchanged', () => {
    expect(stageDetail('access', 'may query this server')).toEqual({ key: 'queries.access.may', of: '' });
    expect(stageDetail('access', 'may not query this server (dns.allowed_clients)')).toBeNull();
  });

  test('of admission states that no rate limit is set, and shows a limit unchanged', () => {
    expect(stageDetail('admission', 'no rate limit')).toEqual({ key: 'queries.why.noLimit', of: '' });
    expect(stageDetail('admission', 'rate limit 20/s, burst 50')).toBeNull();
  });

  test('is null for other stages', () => {
    expect(stageDetail('schedule_override', 'default')).toBeNull();
  });
});
