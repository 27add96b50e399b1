import { describe, expect, test } from '@jest/globals';
import { FIRST_ZONE_UPSTREAM } from '../../shared/snapshot/forward-zone-servers.ts';
import { ZoneNumbers } from '../policy/snapshot/build/zone-numbers.ts';
import type { SnapshotPublisher } from '../policy/snapshot/publish/publisher.ts';
import { recordNames } from './record-names.ts';

const RULE = { source: 'list', before: '||', after: '^', atName: true, lists: [1, 2] };
const SCHEDULE = { source: 'night', before: 'block_all', after: '', atName: false, lists: [] };

/** Knows one rule and one schedule, both of version 7. */
const publisher = {
  loggedRule: (version: number) => (version === 7 ? RULE : undefined),
  loggedSchedule: (version: number, groupId: number) =>
    version === 7 && groupId === 2 ? SCHEDULE : undefined,
} as unknown as SnapshotPublisher;

const upstreams = ['udp://192.0.2.1', 'udp://192.0.2.2', 'tls://192.0.2.3'];
const pools = { addressOf: (number: number) => upstreams[number] };

describe('recordNames()', () => {
  const zones = new ZoneNumbers();
  zones.number([
    { zone: 'corp.test', names: ['corp.test'], servers: ['tcp://192.0.2.8', 'tcp://192.0.2.9'] },
  ]);
  const names = recordNames(publisher, pools, zones);

  test('asks the pools for their servers, and counts those of zones from their first number', () => {
    // An index is a number less one.
    const indexes = [0, 1, 2, 3, FIRST_ZONE_UPSTREAM - 1, FIRST_ZONE_UPSTREAM, FIRST_ZONE_UPSTREAM + 1];
    expect(indexes.map((index) => names.upstream(index))).toEqual([
      'udp://192.0.2.1',
      'udp://192.0.2.2',
      'tls://192.0.2.3',
      undefined,
      'tcp://192.0.2.8',
      'tcp://192.0.2.9',
      undefined,
    ]);
  });

  test('names rules and schedules of the version that decided', () => {
    const rule = { origin: 0, index: 1, kinds: 2, groupId: 2 };
    const name = (): Uint8Array => new Uint8Array(1);
    expect([names.rule(7, rule, name), names.rule(8, rule, name)]).toEqual([RULE, undefined]);
    expect([names.schedule(7, 2), names.schedule(7, 1)]).toEqual([SCHEDULE, undefined]);
  });
});
