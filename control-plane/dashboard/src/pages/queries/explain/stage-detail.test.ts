import { describe, expect, test } from '@jest/globals';
import { stageDetail } from './stage-detail.ts';

describe('stageDetail()', () => {
  test.each([
    ['default', { key: 'queries.groupBy.default', of: '' }],
    ['mac 192.0.2.21', { key: 'queries.groupBy.mac', of: '192.0.2.21' }],
    ['subnet 2001:db8::/32', { key: 'queries.groupBy.subnet', of: '2001:db8::/32' }],
    ['key tablet', { key: 'queries.groupBy.key', of: 'tablet' }],
    ['chosen', { key: 'queries.groupBy.chosen', of: '' }],
    ['default (no client has the key tablet)', null],
  ])('of a group by "%s"', (detail, words) => {
    expect(stageDetail('client_group', detail)).toEqual(words);
  });

  test('of the cache contains the remaining time of an answer', () => {
    expect(stageDetail('cache', 'ttl 90')).toEqual({ key: 'queries.why.cacheTtl', of: '', secs: 90 });
  });

  test('of special names contains the zone that is answered here', () => {
    expect(stageDetail('special_names', 'zone lan')).toEqual({ key: 'queries.why.ownZone', of: 'lan' });
  });

  test('is null for other stages', () => {
    expect(stageDetail('schedule_override', 'default')).toBeNull();
  });
});
